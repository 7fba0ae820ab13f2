// Declaration of an attack: its name, its row in the threat model, and the expected outcome. An attack collects faults.
import type { Answer, Deployment } from './deployment.ts'

export interface Abuse {
  /** Of docs/threat-model.md. */
  readonly row: number
  readonly name: string
  /** One short sentence. */
  readonly mustHappen: string
  run(deployment: Deployment, faults: Faults): Promise<void>
}

const cut = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text)

/** Collects the faults of one attack in `found`. */
export const createFaults = (found: string[]) => ({
  add: (what: string): void => void found.push(what),
  /** Requires one of these statuses. */
  status: (what: string, { status, text }: Answer, ...wanted: readonly number[]): void => {
    if (!wanted.includes(status)) found.push(`${what}: ${status}, not ${wanted.join(' or ')}: ${cut(text)}`)
  },
  holds: (what: string, condition: boolean): void => {
    if (!condition) found.push(what)
  },
  /** Requires that the answer contains none of these words. */
  silent: (what: string, { text }: Answer, ...words: readonly string[]): void => {
    for (const word of words) if (text.includes(word)) found.push(`${what}: the answer contains ${word}`)
  },
})

export type Faults = ReturnType<typeof createFaults>
