import { expect, test } from 'bun:test'
import { join } from 'node:path'

const SOURCE = join(import.meta.dir, '../../src/lib/memory-use.ts')
const PROGRAM = `import { openSync } from 'node:fs'
  import { memoryUse } from ${JSON.stringify(SOURCE)}
  const { rss } = memoryUse()
  try {
    for (;;) openSync('/dev/null')
  } catch {
    console.log(rss > 0, memoryUse().rss === rss)
  }`

test('returns the last measured memory use if the process has no free file descriptor', () => {
  const command = ['bash', '-c', 'ulimit -n 200; exec "$0" -e "$1"', process.execPath, PROGRAM]
  const { stdout, stderr } = Bun.spawnSync(command)
  expect([stdout.toString(), stderr.toString()]).toEqual(['true true\n', ''])
})
