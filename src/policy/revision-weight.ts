// The cache weight of a revision. Separate from the modules that read revisions, because workers do not load these.

/**
 * Returns the cache weight of a text. The constant accounts for surrounding objects: without it, many tiny revisions
 * would exceed the memory that the character limit implies.
 */
export const weightOf = (characters: number): number => characters + 1_024
