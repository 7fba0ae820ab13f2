/**
 * Cache weight of a revision's text. The constant accounts for surrounding objects: without it, many tiny revisions
 * would exceed the memory that the character limit implies. In its own file, because workers do not load the files that
 * read revisions.
 */
export const weightOf = (characters: number): number => characters + 1_024
