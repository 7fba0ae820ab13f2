// Draws random mutants from the whole source, weighted by the cost of a fault.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { type Mutant, mutantsOf } from './mutants.ts'

/** Weights of the areas relative to their number of mutants. The first area with a matching path counts. */
const AREAS: readonly (readonly [area: string, weight: number, paths: RegExp])[] = [
  ['pages', 0.2, /^src\/(?:dashboard|portal|pages|modules\/[^/]+\/pages)\//],
  ['signing', 3, /^(?:src\/signing|workers\/signing)\//],
  ['pool', 3, /^src\/pool\//],
  ['claims', 3, /^src\/(?:store\/claim-log\/|server\/idempotency|attestation\/)/],
  ['decisions', 3, /^src\/decision-log\//],
  ['policy evaluation', 2, /^src\/policy\//],
  ['facts', 2, /^src\/facts\//],
  ['screening', 2, /^(?:src\/modules\/screening|workers\/screening)\//],
  ['session decisions', 3, /^src\/(?:modules\/session-policies|identity|store\/sessions)\//],
  ['rights', 2, /^src\/(?:admin\/(?:accounts|second-person|rights|perform|gate)|store\/accounts)/],
  ['clients', 1, /^src\/client\//],
  ['command line', 0.5, /^src\/cli\//],
  ['store', 1, /^src\/store\//],
  ['administration', 1, /^src\/admin\//],
  ['other modules', 1, /^(?:src\/modules|workers)\//],
  ['the rest', 1, /./],
]

/** Areas in which at least 97% of the mutants must be detected; 90% overall. */
export const GUARDED_AREAS: readonly string[] = [
  'signing',
  'pool',
  'claims',
  'decisions',
  'policy evaluation',
  'screening',
  'session decisions',
  'rights',
]

export const areaOf = (file: string): string => AREAS.find(([, , paths]) => paths.test(file))?.[0] ?? 'the rest'

/** Type declarations, migrations (which have their own tests), and generated or bundled files. */
const LEFT_OUT = /\.d\.ts$|\/migrations\/|\/dist\/|node_modules/

export const allMutants = (root: string): readonly Mutant[] =>
  ['src/**/*.{ts,tsx}', 'workers/**/*.ts']
    .flatMap((pattern) => [...new Glob(pattern).scanSync(root)])
    .filter((file) => !LEFT_OUT.test(file))
    .sort()
    .flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')))

/** Returns a generator of pseudo-random numbers in [0, 1) (mulberry32). */
const randomFrom = (seed: number) => {
  let state = seed >>> 0
  return (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Draws `size` mutants without repetition; the same seed and source draw the same mutants. */
export const drawSample = (mutants: readonly Mutant[], size: number, seed: number): readonly Mutant[] => {
  const random = randomFrom(seed)
  const weightOf = new Map(AREAS.map(([area, weight]) => [area, weight]))
  // Efraimidis and Spirakis 2006: the largest keys of u^(1/w) are a weighted sample without replacement.
  return mutants
    .map((mutant) => ({ mutant, key: random() ** (1 / (weightOf.get(areaOf(mutant.file)) ?? 1)) }))
    .sort((one, other) => other.key - one.key)
    .slice(0, size)
    .map(({ mutant }) => mutant)
}
