// A passphrase that an operator chose: scrypt stretches it at its standard cost, each time a keystore is written or opened.
import { expect, test } from 'bun:test'
import { runToEnd } from '../../service/run-to-end.ts'
import { startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'

test('a passphrase from the environment opens the keystores, and a wrong one stops the start with one line', async () => {
  const dataDirectory = newFolder()
  const first = await startService({
    dataDirectory,
    environment: { COUNTERSIGN_PASSPHRASE: 'a passphrase for the lifecycle test' },
  })
  const { quickstart } = first
  const answer = await first.attest({
    from: '0x1111111111111111111111111111111111111111',
    chain: 'base',
    verification_hash: quickstart['VERIFICATION_HASH'],
  })
  expect(answer.status).toBe(200)
  await first.stop()
  const wrong = await runToEnd(['bun', 'src/main.ts'], {
    COUNTERSIGN_DATA_DIR: dataDirectory,
    COUNTERSIGN_PASSPHRASE: 'another one',
  })
  expect(wrong.code).toBe(2)
  expect(wrong.stderr.split('\n').filter((line) => line.startsWith('countersign: '))).toHaveLength(1)
  expect(wrong.stderr + wrong.stdout).not.toContain('another one')
}, 60_000)
