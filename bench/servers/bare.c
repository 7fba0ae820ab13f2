/*
 * The bare way, as fast as a machine goes: an HTTP server in C that signs v2 statements for sepolia and does nothing else.
 * No key, no policy, no record, no check of what it is sent beyond finding it. What the service is measured against where
 * a C compiler and libsecp256k1 are found. Loopback only; ends with its parent.
 *
 * Usage: bare PORT THREADS PRIVATE_KEY_HEX VERIFICATION_HASH ATTESTER
 * Source of the layout: bench/load/verify-answer.ts; of Keccak: FIPS 202 with the padding byte 0x01.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES 16384
#define LIFETIME_SECONDS 300
#define SEPOLIA 11155111u
#define MAX_CONNECTIONS 65536

/* libsecp256k1's interface, as far as it is used; SIGN is 0x201 in every version. */
typedef struct { unsigned char data[65]; } recoverable_signature;
static void *(*context_create)(unsigned int);
static int (*context_randomize)(void *, const unsigned char *);
static int (*sign_recoverable)(const void *, recoverable_signature *, const unsigned char *, const unsigned char *,
                               const void *, const void *);
static int (*serialize_compact)(const void *, unsigned char *, int *, const recoverable_signature *);

static int port;
static unsigned char private_key[32];
static const char *verification_hash;
static const char *attester;

static void die(const char *what) {
  fprintf(stderr, "bare: %s (%s)\n", what, strerror(errno));
  exit(1);
}

static const uint64_t ROUND_CONSTANTS[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000a, 0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};
static const int ROTATIONS[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
static const int LANES[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};

static uint64_t rotate(uint64_t value, int by) { return (value << by) | (value >> (64 - by)); }

static void permute(uint64_t state[25]) {
  for (int round = 0; round < 24; round++) {
    uint64_t columns[5];
    for (int x = 0; x < 5; x++) columns[x] = state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20];
    for (int x = 0; x < 5; x++) {
      uint64_t mix = columns[(x + 4) % 5] ^ rotate(columns[(x + 1) % 5], 1);
      for (int y = 0; y < 25; y += 5) state[y + x] ^= mix;
    }
    uint64_t moved = state[1];
    for (int i = 0; i < 24; i++) {
      uint64_t next = state[LANES[i]];
      state[LANES[i]] = rotate(moved, ROTATIONS[i]);
      moved = next;
    }
    for (int y = 0; y < 25; y += 5) {
      uint64_t row[5];
      memcpy(row, state + y, sizeof row);
      for (int x = 0; x < 5; x++) state[y + x] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
    }
    state[0] ^= ROUND_CONSTANTS[round];
  }
}

static void keccak256(const unsigned char *bytes, size_t length, unsigned char digest[32]) {
  enum { RATE = 136 };
  uint64_t state[25] = {0};
  unsigned char block[RATE];
  for (;;) {
    size_t take = length < RATE ? length : RATE;
    memcpy(block, bytes, take);
    if (take < RATE) {
      memset(block + take, 0, RATE - take);
      block[take] = 0x01;
      block[RATE - 1] |= 0x80;
    }
    for (int i = 0; i < RATE / 8; i++) {
      uint64_t lane;
      memcpy(&lane, block + 8 * i, 8);
      state[i] ^= lane;
    }
    permute(state);
    if (take < RATE) break;
    bytes += RATE;
    length -= RATE;
  }
  memcpy(digest, state, 32);
}

static int nibble(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  digit |= 0x20;
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Bytes read, or -1. */
static int read_hex(const char *text, size_t digits, unsigned char *out, size_t limit) {
  if (digits % 2 != 0 || digits / 2 > limit) return -1;
  for (size_t i = 0; i < digits; i += 2) {
    int high = nibble(text[i]), low = nibble(text[i + 1]);
    if (high < 0 || low < 0) return -1;
    out[i / 2] = (unsigned char)(high << 4 | low);
  }
  return (int)(digits / 2);
}

static void write_hex(const unsigned char *bytes, size_t length, char *out) {
  static const char DIGITS[] = "0123456789abcdef";
  for (size_t i = 0; i < length; i++) {
    out[2 * i] = DIGITS[bytes[i] >> 4];
    out[2 * i + 1] = DIGITS[bytes[i] & 15];
  }
}

/* The text of a string field, without a copy; NULL when it is missing. */
static const char *field(const char *body, const char *name, size_t *length) {
  const char *found = strstr(body, name);
  if (found == NULL) return NULL;
  found += strlen(name);
  const char *end = strchr(found, '"');
  if (end == NULL) return NULL;
  *length = (size_t)(end - found);
  return found;
}

static void put_number(unsigned char *word, uint64_t value) {
  for (int i = 31; i >= 24; i--, value >>= 8) word[i] = (unsigned char)value;
}

/* Decimal to 32 bytes, most significant first; 0 when it is none. */
static int put_decimal(unsigned char *word, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return 0;
    unsigned carry = (unsigned)(text[i] - '0');
    for (int at = 31; at >= 0; at--) {
      carry += word[at] * 10u;
      word[at] = (unsigned char)carry;
      carry >>= 8;
    }
  }
  return length > 0;
}

static size_t put_bytes(unsigned char *tail, const void *bytes, size_t length) {
  put_number(tail, length);
  memcpy(tail + 32, bytes, length);
  return 32 + (length + 31) / 32 * 32;
}

static void make_uuid(char uuid[37]) {
  unsigned char random[16];
  if (getrandom(random, sizeof random, 0) != sizeof random) die("no random bytes");
  random[6] = (random[6] & 0x0f) | 0x40;
  random[8] = (random[8] & 0x3f) | 0x80;
  char hex[32];
  write_hex(random, 16, hex);
  sprintf(uuid, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
}

/* Length of the answer's body, or 0 when the request can't be answered. */
static size_t attest(const void *context, const char *body, char *answer, size_t limit) {
  unsigned char statement[8192] = {0};
  size_t from_length = 0, to_length = 0, data_length = 0, value_length = 0, chain_length = 0;
  const char *from = field(body, "\"from\":\"0x", &from_length);
  const char *to = field(body, "\"to\":\"0x", &to_length);
  const char *data = field(body, "\"data\":\"0x", &data_length);
  const char *value = field(body, "\"msg_value\":\"", &value_length);
  const char *chain = field(body, "\"chain\":\"", &chain_length);
  if (!from || !to || !data || !value || !chain || chain_length != 7 || memcmp(chain, "sepolia", 7) != 0) return 0;

  char uuid[37];
  make_uuid(uuid);
  long expiration = (long)time(NULL) + LIFETIME_SECONDS;
  unsigned char call[4096];
  int call_length = read_hex(data, data_length, call, sizeof call);
  put_number(statement, SEPOLIA);
  if (call_length < 0 || read_hex(from, from_length, statement + 64 + 12, 20) != 20 ||
      read_hex(to, to_length, statement + 96 + 12, 20) != 20 || !put_decimal(statement + 128, value, value_length)) {
    return 0;
  }
  size_t at = 256;
  put_number(statement + 32, at);
  at += put_bytes(statement + at, uuid, 36);
  put_number(statement + 160, at);
  at += put_bytes(statement + at, call, (size_t)call_length);
  put_number(statement + 192, at);
  at += put_bytes(statement + at, verification_hash, strlen(verification_hash));
  put_number(statement + 224, (uint64_t)expiration);

  unsigned char digest[32], signature[65];
  recoverable_signature recoverable;
  int recovery;
  keccak256(statement, at, digest);
  if (!sign_recoverable(context, &recoverable, digest, private_key, NULL, NULL)) return 0;
  serialize_compact(context, signature, &recovery, &recoverable);
  signature[64] = (unsigned char)(27 + recovery);
  char hex[131] = {0};
  write_hex(signature, 65, hex);
  return (size_t)snprintf(answer, limit,
                          "{\"policy_id\":\"policy_0000000000000000\",\"policy_name\":\"Bare\",\"verification_hash\":\"%s\","
                          "\"is_compliant\":true,\"attestation\":{\"uuid\":\"%s\",\"expiration\":%ld,\"attester\":\"%s\","
                          "\"signature\":\"0x%s\"}}",
                          verification_hash, uuid, expiration, attester, hex);
}

typedef struct {
  char bytes[BUFFER_BYTES + 1];
  size_t length;
} connection;

static void send_all(int socket, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t sent = send(socket, bytes, length, MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (sent <= 0) return;
    bytes += sent;
    length -= (size_t)sent;
  }
}

/* Answers every whole request in the buffer. 0: the connection is of no use. */
static int serve(const void *context, int socket, connection *open) {
  for (;;) {
    open->bytes[open->length] = '\0';
    char *end = strstr(open->bytes, "\r\n\r\n");
    if (end == NULL) return open->length < BUFFER_BYTES;
    *end = '\0';
    const char *header = strcasestr(open->bytes, "\r\ncontent-length:");
    *end = '\r';
    size_t body_length = header == NULL ? 0 : strtoul(header + 17, NULL, 10);
    size_t total = (size_t)(end + 4 - open->bytes) + body_length;
    if (total > BUFFER_BYTES) return 0;
    if (open->length < total) return 1;
    char kept = open->bytes[total];
    open->bytes[total] = '\0';
    char body[2048], response[2304];
    size_t length = body_length == 0 ? 0 : attest(context, end + 4, body, sizeof body);
    open->bytes[total] = kept;
    int is_get = memcmp(open->bytes, "GET ", 4) == 0;
    int written = snprintf(response, sizeof response,
                           "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%.*s",
                           length > 0 || is_get ? "200 OK" : "400 Bad Request", length, (int)length, body);
    send_all(socket, response, (size_t)written);
    memmove(open->bytes, open->bytes + total, open->length - total);
    open->length -= total;
    if (open->length == 0) return 1;
  }
}

static void *run(void *unused) {
  (void)unused;
  static connection *connections[MAX_CONNECTIONS];
  unsigned char seed[32];
  void *context = context_create(0x201);
  if (getrandom(seed, sizeof seed, 0) != sizeof seed || !context_randomize(context, seed)) die("no random bytes");
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 1024) != 0) die("no port");
  int poll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[256];
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int ready = epoll_wait(poll, events, 256, -1);
    for (int i = 0; i < ready; i++) {
      int from = events[i].data.fd;
      if (from == listener) {
        int accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        if (accepted < 0) continue;
        if (accepted >= MAX_CONNECTIONS) { close(accepted); continue; }
        setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        connections[accepted] = calloc(1, sizeof(connection));
        event.data.fd = accepted;
        epoll_ctl(poll, EPOLL_CTL_ADD, accepted, &event);
        continue;
      }
      connection *open = connections[from];
      ssize_t got = recv(from, open->bytes + open->length, BUFFER_BYTES - open->length, 0);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (got > 0) open->length += (size_t)got;
      if (got <= 0 || !serve(context, from, open)) {
        free(open);
        close(from);
      }
    }
  }
  return NULL;
}

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (found == NULL) die(name);
  return found;
}

int main(int count, char **arguments) {
  static const char *const NAMES[] = {"libsecp256k1.so.6", "libsecp256k1.so.5", "libsecp256k1.so.2", "libsecp256k1.so.1",
                                      "libsecp256k1.so.0", "libsecp256k1.so"};
  if (count != 6 || strlen(arguments[3]) != 64) die("usage: bare PORT THREADS PRIVATE_KEY_HEX VERIFICATION_HASH ATTESTER");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  port = atoi(arguments[1]);
  if (read_hex(arguments[3], 64, private_key, 32) != 32) die("the key is not hex");
  verification_hash = arguments[4];
  attester = arguments[5];
  void *library = NULL;
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES && library == NULL; i++) library = dlopen(NAMES[i], RTLD_NOW);
  if (library == NULL) die("there is no libsecp256k1");
  *(void **)&context_create = symbol(library, "secp256k1_context_create");
  *(void **)&context_randomize = symbol(library, "secp256k1_context_randomize");
  *(void **)&sign_recoverable = symbol(library, "secp256k1_ecdsa_sign_recoverable");
  *(void **)&serialize_compact = symbol(library, "secp256k1_ecdsa_recoverable_signature_serialize_compact");
  for (int i = 1; i < atoi(arguments[2]); i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) != 0) die("no thread");
  }
  run(NULL);
}
