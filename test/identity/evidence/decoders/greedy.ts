// A decoder that allocates memory until it gets no more.
const held: Uint8Array[] = []
for (;;) held.push(new Uint8Array(256 * 2 ** 20))

export {}
