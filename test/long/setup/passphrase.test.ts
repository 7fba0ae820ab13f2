// A configured passphrase, which scrypt derives with its standard cost for each keystore.
import { expect, test } from 'bun:test'
import { attestOnce } from '../../service/calls.ts'
import { runToEnd } from '../../service/run-to-end.ts'
import { startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'

test('a passphrase from the environment opens the keystores, and a wrong passphrase ends startup with a one-line error', async () => {
  const dataDirectory = newFolder()
  const environment = { COUNTERSIGN_PASSPHRASE: 'a passphrase for the lifecycle test' }
  const first = await startService({ dataDirectory, environment })
  await attestOnce(first)
  await first.stop()
  const settings = { COUNTERSIGN_DATA_DIR: dataDirectory, COUNTERSIGN_PASSPHRASE: 'another one' }
  const wrong = await runToEnd(['bun', 'src/main.ts'], settings)
  expect(wrong.code).toBe(2)
  expect(wrong.stderr.split('\n').filter((line) => line.startsWith('countersign: '))).toHaveLength(1)
  expect(wrong.stderr + wrong.stdout).not.toContain('another one')
}, 60_000)
