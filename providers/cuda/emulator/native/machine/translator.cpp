#include "machine/translator.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sstream>

#include "machine/block.h"
#include "machine/heap.h"

extern char** environ;

namespace {

constexpr int NOT_SUPPORTED = 801;
constexpr int OPERATING_SYSTEM = 304;

// A process of Python that answers one request after the other over a socket: a line of words, then bytes if it says
// so.
class Translator {
   public:
    static Translator& get() {
        static Translator* one = new Translator;
        return *one;
    }
    std::mutex turn;

    bool ask(const std::string& line, const std::string& bytes, std::string& why) {
        if (socket_ < 0 && !start(why)) return false;
        std::string whole = line + "\n" + bytes;
        for (std::size_t sent = 0; sent < whole.size();) {
            ssize_t count = send(socket_, whole.data() + sent, whole.size() - sent, MSG_NOSIGNAL);
            if (count <= 0 && errno == EINTR) continue;
            if (count <= 0) return ended(why);
            sent += static_cast<std::size_t>(count);
        }
        return true;
    }
    bool line(std::string& text, std::string& why) {
        text.clear();
        for (;;) {
            auto end = kept_.find('\n');
            if (end != std::string::npos) {
                text = kept_.substr(0, end);
                kept_.erase(0, end + 1);
                return true;
            }
            if (!more(why)) return false;
        }
    }
    bool bytes(std::size_t count, std::string& text, std::string& why) {
        while (kept_.size() < count)
            if (!more(why)) return false;
        text = kept_.substr(0, count);
        kept_.erase(0, count);
        return true;
    }
    // Reads "ok ..." into words; an error has its code and text.
    int answer(std::istringstream& words, std::string& why) {
        std::string text, verdict;
        if (!line(text, why)) return OPERATING_SYSTEM;
        words.str(text);
        words >> verdict;
        if (verdict == "ok") return 0;
        int code = NOT_SUPPORTED;
        std::size_t size = 0;
        words >> code >> size;
        if (!bytes(size, why, text)) why = text;
        return code;
    }

   private:
    bool more(std::string& why) {
        char buffer[65536];
        ssize_t count = recv(socket_, buffer, sizeof buffer, 0);
        if (count < 0 && errno == EINTR) return true;
        if (count <= 0) return ended(why);
        kept_.append(buffer, static_cast<std::size_t>(count));
        return true;
    }
    bool ended(std::string& why) {
        close(socket_);
        socket_ = -1;
        kept_.clear();
        int status = 0;
        waitpid(child_, &status, 0);
        why = "the process that translates PTX has ended with status " + std::to_string(status) +
              "; it is `python -m ep_cuda_emulator.translator` of the Python that EP_CUDA_EMULATOR_PYTHON names";
        return false;
    }
    bool start(std::string& why) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return false;
        const char* python = std::getenv("EP_CUDA_EMULATOR_PYTHON");
        std::string numbers = std::to_string(BASE) + "," + std::to_string(GRANULE_SHIFT) + "," +
                              std::to_string(GRANULES) + "," + std::to_string(TABLE) + "," + std::to_string(STORE) +
                              "," + std::to_string(SHARED_WINDOW) + "," + std::to_string(PARAM_WINDOW) + "," +
                              std::to_string(PARAMETERS_PLACE);
        std::vector<std::string> texts = {python ? python : "python3",
                                          "-m",
                                          "ep_cuda_emulator.translator",
                                          "3",
                                          numbers,
                                          Heap::tracks_writes() ? "tracks" : "plain"};
        std::vector<char*> arguments;
        for (auto& text : texts) arguments.push_back(text.data());
        arguments.push_back(nullptr);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], 3);
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setpgroup(&attributes, 0);  // Ctrl-C is the program's, not the translator's
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        int code = posix_spawnp(&child_, arguments[0], &actions, &attributes, arguments.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        close(ends[1]);
        if (code) {
            close(ends[0]);
            why =
                std::string("no Python translates PTX: ") + std::strerror(code) + "; EP_CUDA_EMULATOR_PYTHON names one";
            return false;
        }
        socket_ = ends[0];
        return true;
    }

    int socket_ = -1;
    pid_t child_ = 0;
    std::string kept_;
};

}  // namespace

int load_program(const std::string& ptx, ProgramFacts& facts, std::string& why) {
    auto& translator = Translator::get();
    std::lock_guard guard(translator.turn);
    if (!translator.ask("load " + std::to_string(ptx.size()), ptx, why)) return OPERATING_SYSTEM;
    std::istringstream words;
    if (int code = translator.answer(words, why)) return code;
    std::size_t entries = 0, variables = 0;
    words >> facts.handle >> entries >> variables;
    std::string text;
    for (std::size_t number = 0; number < entries; ++number) {
        if (!translator.line(text, why)) return OPERATING_SYSTEM;
        std::istringstream line(text);
        EntryFacts entry;
        std::size_t count = 0;
        line >> entry.name >> entry.most_threads >> entry.parameter_bytes >> count;
        entry.parameters.resize(count);
        for (auto& each : entry.parameters) line >> each.offset >> each.size;
        facts.entries.push_back(std::move(entry));
    }
    for (std::size_t number = 0; number < variables; ++number) {
        if (!translator.line(text, why)) return OPERATING_SYSTEM;
        std::istringstream line(text);
        VariableFacts variable;
        std::size_t count = 0;
        line >> variable.name >> variable.space >> variable.align >> variable.size >> count;
        if (!translator.bytes(count, variable.initial, why)) return OPERATING_SYSTEM;
        facts.variables.push_back(std::move(variable));
    }
    return 0;
}

int build_entry(int program, const std::string& entry, bool is_hot, Built& built, std::string& why) {
    auto& translator = Translator::get();
    std::lock_guard guard(translator.turn);
    std::string line = "build " + std::to_string(program) + " " + std::to_string(is_hot) + " " + entry;
    if (!translator.ask(line, "", why)) return OPERATING_SYSTEM;
    std::istringstream words;
    if (int code = translator.answer(words, why)) return code;
    std::size_t size = 0;
    words >> built.is_cooperative >> built.shared >> size;
    return translator.bytes(size, built.object, why) ? 0 : OPERATING_SYSTEM;
}

void forget_program(int program) {
    auto& translator = Translator::get();
    std::lock_guard guard(translator.turn);
    std::string why;
    translator.ask("forget " + std::to_string(program), "", why);
}
