#include "ptx.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace emulator {

// words splits PTX without its comments into names and single signs.
static std::vector<std::string> words(const std::string &ptx, size_t from) {
	std::vector<std::string> all;
	for (size_t i = from; i < ptx.size();) {
		if (ptx.compare(i, 2, "//") == 0) {
			while (i < ptx.size() && ptx[i] != '\n') i++;
		} else if (isspace((unsigned char)ptx[i])) {
			i++;
		} else {
			size_t j = i;
			while (j < ptx.size() && (isalnum((unsigned char)ptx[j]) || ptx[j] == '_' || ptx[j] == '$' || ptx[j] == '.' || ptx[j] == '%')) j++;
			if (j == i) j++;
			all.push_back(ptx.substr(i, j - i));
			i = j;
		}
		if (!all.empty() && (all.back() == ")" || all.back() == ";") ) break;
	}
	return all;
}

bool ptx_header(const std::string &ptx, int *version, int *target) {
	auto v = ptx.find(".version "), t = ptx.find(".target sm_");
	int major, minor;
	if (v == std::string::npos || t == std::string::npos || sscanf(ptx.c_str() + v, ".version %d.%d", &major, &minor) != 2) return false;
	*version = 10 * major + minor;
	return sscanf(ptx.c_str() + t, ".target sm_%d", target) == 1;
}

bool ptx_entry(const std::string &ptx, const std::string &name, std::string *kinds) {
	for (size_t at = ptx.find(".entry"); at != std::string::npos; at = ptx.find(".entry", at + 1)) {
		auto w = words(ptx, at);
		if (w.size() < 2 || w[0] != ".entry" || w[1] != name) continue;
		kinds->clear();
		for (size_t i = 0; i + 1 < w.size(); i++) {
			if (w[i] != ".param") continue;
			const std::string &type = w[i + 1];
			*kinds += type == ".u64" || type == ".s64" || type == ".b64" ? 'l' : type == ".f64" ? 'd' : '?';
		}
		return true;
	}
	return false;
}

bool ptx_constant(const std::string &ptx, const std::string &name, size_t *bytes) {
	for (size_t at = ptx.find(".const "); at != std::string::npos; at = ptx.find(".const ", at + 1)) {
		auto w = words(ptx, at);
		size_t size = 0, i = 1;
		for (; i < w.size() && w[i] != name; i++) {
			if (w[i] == "=") break;  // an initial value may name another
			if (w[i] == ".b8" || w[i] == ".u8" || w[i] == ".s8") size = 1;
			if (w[i] == ".b16" || w[i] == ".u16" || w[i] == ".s16") size = 2;
			if (w[i] == ".b32" || w[i] == ".u32" || w[i] == ".s32" || w[i] == ".f32") size = 4;
			if (w[i] == ".b64" || w[i] == ".u64" || w[i] == ".s64" || w[i] == ".f64") size = 8;
		}
		if (i >= w.size() || w[i] != name) continue;
		for (; i + 1 < w.size(); i++)
			if (w[i] == "[") size *= strtoull(w[i + 1].c_str(), nullptr, 10);
		*bytes = size;
		return true;
	}
	return false;
}

}  // namespace emulator
