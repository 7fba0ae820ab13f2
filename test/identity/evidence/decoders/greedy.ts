// A decoder that allocates memory until an allocation fails.
const held: Uint8Array[] = []
for (;;) held.push(new Uint8Array(256 * 2 ** 20))

export {}
