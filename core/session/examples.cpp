#include "core/session/examples.h"

#include "core/error.h"
#include "core/session/embedded.h"
#include "core/session/options.h"

namespace attnscope {

std::vector<std::string> example_names() {
    std::vector<std::string> names;
    for (const EmbeddedFile& file : embedded_examples()) names.emplace_back(file.name);
    return names;
}

Session load_example(std::string_view name) {
    for (const EmbeddedFile& file : embedded_examples())
        if (file.name == name) return session_from_json(file.text, "example " + std::string(name));
    const std::vector<std::string> names = example_names();
    const std::string near = nearest_name(name, names);
    throw Error(ErrorKind::bad_input,
                "there is no example \"" + std::string(name) + "\"" +
                    (near.empty() ? ": `attnscope examples` lists them" : "; did you mean " + near + "?"));
}

const std::vector<NamedExample>& all_examples() {
    static const std::vector<NamedExample> examples = [] {
        std::vector<NamedExample> found;
        for (const std::string& name : example_names()) found.push_back({name, load_example(name)});
        return found;
    }();
    return examples;
}

const NamedExample* example_with_note(std::string_view note) {
    for (const NamedExample& example : all_examples())
        if (example.session.note == note) return &example;
    return nullptr;
}

}  // namespace attnscope
