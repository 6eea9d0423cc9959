#include "machine/object.h"

#include <elf.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

namespace {

constexpr std::size_t PAGE = 4096;

std::size_t rounded(std::size_t size, std::size_t to) {
    return to > 1 ? (size + to - 1) / to * to : size;
}

}  // namespace

Object::Object(const std::string& bytes, const std::function<std::uint64_t(const std::string&)>& resolve) {
    const char* file = bytes.data();
    auto* header = reinterpret_cast<const Elf64_Ehdr*>(file);
    if (bytes.size() < sizeof *header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_type != ET_REL) {
        error = "it is no relocatable object";
        return;
    }
    auto* sections = reinterpret_cast<const Elf64_Shdr*>(file + header->e_shoff);
    std::vector<std::size_t> places(header->e_shnum);
    for (int number = 0; number < header->e_shnum; ++number) {
        auto& section = sections[number];
        if (!(section.sh_flags & SHF_ALLOC)) continue;
        size_ = rounded(size_, section.sh_addralign);
        places[number] = size_;
        size_ += section.sh_size;
    }
    size_ = rounded(size_ + 1, PAGE);
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        error = "there is no memory for it";
        return;
    }
    memory_ = static_cast<char*>(memory);
    for (int number = 0; number < header->e_shnum; ++number) {
        auto& section = sections[number];
        if (section.sh_flags & SHF_ALLOC && section.sh_type != SHT_NOBITS)
            std::memcpy(memory_ + places[number], file + section.sh_offset, section.sh_size);
    }
    for (int number = 0; number < header->e_shnum; ++number) {
        auto& section = sections[number];
        if (section.sh_type != SHT_RELA || !(sections[section.sh_info].sh_flags & SHF_ALLOC)) continue;
        auto& symbol_section = sections[section.sh_link];
        auto* symbols = reinterpret_cast<const Elf64_Sym*>(file + symbol_section.sh_offset);
        const char* names = file + sections[symbol_section.sh_link].sh_offset;
        auto* found = reinterpret_cast<const Elf64_Rela*>(file + section.sh_offset);
        for (std::size_t each = 0; each < section.sh_size / sizeof *found; ++each) {
            auto& symbol = symbols[ELF64_R_SYM(found[each].r_info)];
            std::string name = names + symbol.st_name;
            std::uint64_t value = symbol.st_shndx == SHN_UNDEF ? resolve(name)
                                                               : reinterpret_cast<std::uint64_t>(memory_) +
                                                                     places[symbol.st_shndx] + symbol.st_value;
            if (!value) error = "it needs " + name + ", which is not there";
            char* place = memory_ + places[section.sh_info] + found[each].r_offset;
            std::uint64_t target = value + found[each].r_addend;
            switch (ELF64_R_TYPE(found[each].r_info)) {
                case R_X86_64_64:
                    std::memcpy(place, &target, 8);
                    break;
                case R_X86_64_PC64:
                    target -= reinterpret_cast<std::uint64_t>(place);
                    std::memcpy(place, &target, 8);
                    break;
                case R_X86_64_PC32:
                case R_X86_64_PLT32:
                    target -= reinterpret_cast<std::uint64_t>(place);
                    std::memcpy(place, &target, 4);
                    break;
                default:
                    error = "its relocation " + std::to_string(ELF64_R_TYPE(found[each].r_info)) + " is not known";
            }
        }
    }
    for (int number = 0; number < header->e_shnum; ++number) {
        if (sections[number].sh_type != SHT_SYMTAB) continue;
        auto* symbols = reinterpret_cast<const Elf64_Sym*>(file + sections[number].sh_offset);
        const char* names = file + sections[sections[number].sh_link].sh_offset;
        for (std::size_t each = 0; each < sections[number].sh_size / sizeof *symbols; ++each)
            if (ELF64_ST_BIND(symbols[each].st_info) == STB_GLOBAL && symbols[each].st_shndx != SHN_UNDEF) {
                entry_name_ = names + symbols[each].st_name;
                entry_ =
                    reinterpret_cast<std::uint64_t>(memory_) + places[symbols[each].st_shndx] + symbols[each].st_value;
            }
    }
    mprotect(memory_, size_, PROT_READ | PROT_EXEC);
}

Object::~Object() {
    if (memory_) munmap(memory_, size_);
}

void* Object::symbol(const std::string& name) const {
    return error.empty() && name == entry_name_ ? reinterpret_cast<void*>(entry_) : nullptr;
}
