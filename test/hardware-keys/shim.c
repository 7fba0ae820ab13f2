// A PKCS#11 module in front of SoftHSM that fails as hardware does, on demand: it reads the word in CONTROL before each
// call. `late` answers like `gone`, after two seconds, `hung` blocks until the word changes, `gone` is a token that was taken out, `lying` spoils signatures, `reset`
// ends all sessions once. Each C_Login is noted in LOGINS.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long word;
typedef word (*function)();
#define FUNCTIONS 68
static void *list[1 + FUNCTIONS];
static function real[FUNCTIONS];
enum { SLOT_LIST = 4, TOKEN_INFO = 6, OPEN = 12, CLOSE_ALL = 14, SESSION_INFO = 15, LOGIN = 18, FIND_INIT = 26, SIGN_INIT = 42, SIGN = 43 };

static void read_word(char *text) {
  FILE *file = fopen(CONTROL, "r");
  text[0] = 0;
  if (!file) return;
  if (!fgets(text, 16, file)) text[0] = 0;
  fclose(file);
}

static word state(void) {
  char text[16];
  for (read_word(text); !strncmp(text, "hung", 4); read_word(text)) usleep(5000);
  if (!strncmp(text, "late", 4)) usleep(2000000);
  if (!strncmp(text, "gone", 4) || !strncmp(text, "late", 4)) return 0x32;
  if (!strncmp(text, "reset", 5)) {
    word slots[16], count = 16;
    unlink(CONTROL);
    real[SLOT_LIST](1, slots, &count);
    for (word i = 0; i < count; i++) real[CLOSE_ALL](slots[i]);
  }
  return 0;
}

#define BEFORE word result = state(); if (result) return result
static word slot_list(unsigned char present, word *slots, word *count) { BEFORE; return real[SLOT_LIST](present, slots, count); }
static word token_info(word slot, void *info) { BEFORE; return real[TOKEN_INFO](slot, info); }
static word open_session(word slot, word flags, void *a, void *b, word *session) { BEFORE; return real[OPEN](slot, flags, a, b, session); }
static word session_info(word session, void *info) { BEFORE; return real[SESSION_INFO](session, info); }
static word find_init(word session, void *attributes, word count) { BEFORE; return real[FIND_INIT](session, attributes, count); }
static word sign_init(word session, void *mechanism, word key) { BEFORE; return real[SIGN_INIT](session, mechanism, key); }
static word login(word session, word user, void *pin, word length) {
  BEFORE;
  result = real[LOGIN](session, user, pin, length);
  FILE *file = fopen(LOGINS, "a");
  if (file) { fprintf(file, "%lx\n", result); fclose(file); }
  return result;
}
static word sign(word session, unsigned char *data, word length, unsigned char *signature, word *size) {
  BEFORE;
  result = real[SIGN](session, data, length, signature, size);
  char text[16];
  read_word(text);
  if (!strncmp(text, "lying", 5)) signature[40] ^= 1;
  return result;
}

word C_GetFunctionList(void **out) {
  void *library = dlopen(MODULE, RTLD_NOW | RTLD_LOCAL);
  word (*get)(void **) = library ? (word (*)(void **))dlsym(library, "C_GetFunctionList") : 0;
  void **original;
  if (!get || get((void **)&original)) return 5;
  memcpy(list, original, sizeof list);
  for (int i = 0; i < FUNCTIONS; i++) real[i] = (function)list[1 + i];
  list[1 + SLOT_LIST] = slot_list;
  list[1 + TOKEN_INFO] = token_info;
  list[1 + OPEN] = open_session;
  list[1 + SESSION_INFO] = session_info;
  list[1 + FIND_INIT] = find_init;
  list[1 + LOGIN] = login;
  list[1 + SIGN_INIT] = sign_init;
  list[1 + SIGN] = sign;
  *out = list;
  return 0;
}
