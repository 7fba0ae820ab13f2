// What a policy that decides sessions is evaluated on. Source: src/policy/session-facts.ts, the table of these facts.

/**
 * What is known of one session, by the full names of the facts, for example `checks.document.matches`. JSON, because it is
 * kept with the decision. Null or left out: the fact can't be had.
 */
export type SessionFacts = Readonly<Record<string, string | number | boolean | null>>
