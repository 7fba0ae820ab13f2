// Run as a process of its own by crash.test.ts: makes organizations until it is killed, and prints each one's slug
// once its transaction was acknowledged.
import { writeSync } from 'node:fs'
import { systemClock } from '../../src/lib/time.ts'
import { openStore } from '../../src/store/store.ts'
import { parseStoreAddress } from '../../src/store/store-address.ts'

const store = await openStore({ target: parseStoreAddress(process.argv[2] ?? ''), clock: systemClock })
for (let index = 0; ; index++) {
  const slug = `o${index}`
  const survives = index % 2 === 0 ? 'power-loss' : 'process-crash'
  await store.transaction((tables) => tables.organizations.create({ slug, name: 'x'.repeat(2_000) }), { survives })
  writeSync(1, `${slug}\n`)
  // The writer must not be the only thing that runs, or it would never be killed in between.
  await new Promise((resolve) => setImmediate(resolve))
}
