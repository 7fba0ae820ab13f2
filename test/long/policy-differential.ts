// Compares policies with @bufbuild/cel on random expressions. The suite does a few thousand:
//   bun test/long/policy-differential.ts [count] [seed]      (100,000 unless given)
import fc from 'fast-check'
import { expressions, ours, requests, theirs } from '../policy/differential.ts'
import { answerHelp } from '../support/head-help.ts'

answerHelp(import.meta)

const REPORT_EVERY = 5_000

const [count = 100_000, seed = Date.now() % 2 ** 31] = process.argv.slice(2).map(Number)
if (!Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(seed)) {
  console.error('usage: bun test/long/policy-differential.ts [count] [seed]')
  process.exit(2)
}
console.log(`${count} expressions, seed ${seed}`)

let compared = 0
let generated = 0
let batch = 0
const seen = { true: 0, false: 0, error: 0 }
while (compared < count) {
  const before = compared
  const sample = fc.sample(fc.tuple(expressions, requests), { numRuns: REPORT_EVERY, seed: seed + batch++ })
  for (const [expression, request] of sample) {
    generated++
    const outcome = ours(expression, request)
    if (outcome === null) continue
    const expected = theirs(expression, request)
    if (expected !== outcome) {
      console.error(`they differ: ours ${outcome}, theirs ${expected}\n${expression}\n${JSON.stringify(request)}`)
      process.exit(1)
    }
    seen[`${outcome}`]++
    if (++compared === count) break
  }
  if (compared === before) throw new Error('nothing could be compared')
  console.log(
    `${compared} agree (true ${seen.true}, false ${seen.false}, error ${seen.error}), ${generated - compared} too large`,
  )
}
