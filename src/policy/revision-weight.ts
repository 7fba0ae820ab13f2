// How much of a cache a revision takes, on the main thread and in the workers, which load nothing that reads one.

/**
 * The cache weight of a text. A constant is added for the objects around it: otherwise many tiny revisions would exceed
 * the memory that a budget of characters allows.
 */
export const weightOf = (characters: number): number => characters + 1_024
