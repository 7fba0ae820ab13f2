// A process that crash.test.ts starts: creates organizations until it is killed, and prints the slug of each acknowledged
// transaction.
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
  // Other work must run between writes, or the process would never be killed between two.
  await new Promise((resolve) => setImmediate(resolve))
}
