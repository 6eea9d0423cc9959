// Relocatable objects, as the compiler makes them, brought into memory.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

class Object {
   public:
    // Loads an object. `resolve` gives the address of what it does not define, 0 if there is none; then, or if the
    // object has relocations that are not known, `error` says so and there is no code.
    Object(const std::string& bytes, const std::function<std::uint64_t(const std::string&)>& resolve);
    ~Object();
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;

    void* symbol(const std::string& name) const;
    std::string error;

   private:
    char* memory_ = nullptr;
    std::size_t size_ = 0;
    std::uint64_t entry_ = 0;
    std::string entry_name_;
};
