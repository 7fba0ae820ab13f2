// Requests for proofs that cannot exist start no other work.
import { expect, test } from 'bun:test'
import { createProofs, type ProofDependencies } from '../../src/compose/proof-service.ts'
import type { LineToProve } from '../../src/decision-log/line-proof.ts'
import { systemTimers } from '../../src/lib/time.ts'
import { dataFolderAt } from '../../src/setup/data-folder.ts'
import { createDecisionIndex } from '../../workers/index/decision-index.ts'
import {
  attestation,
  openTestSegment,
  removeTemporaryDirectories,
  temporaryDirectory,
  uuidOf,
  withheld,
} from '../decision-log/fixtures.ts'

test('an invalid uuid reaches neither the index nor the tree', async () => {
  const untouched = new Proxy({}, { get: (_target, name) => expect.unreachable(String(name)) })
  const { prove, close } = createProofs({
    config: untouched,
    folder: untouched,
    proveLine: () => expect.unreachable(),
    after: () => expect.unreachable(),
  } as unknown as ProofDependencies)
  for (const uuid of ['', 'nonsense', `${crypto.randomUUID()}0`, 'zzzzzzzz-0000-0000-0000-000000000000']) {
    expect(await prove('organization', uuid)).toBeNull()
  }
  await close()
})

test('a withheld decision has no proof, because a proof contains the signature, which was never sent', async () => {
  const directory = temporaryDirectory()
  const folder = dataFolderAt(directory)
  const writer = openTestSegment(folder.decisions)
  writer.append([attestation(1), attestation(2), withheld(1)])
  writer.close()
  const index = createDecisionIndex({
    directory: folder.decisions,
    path: folder.decisionIndex,
    monotonicMs: () => performance.now(),
  })
  while (index.ingest()) index.improve()
  index.close()
  const { prove, close } = createProofs({
    config: { store: '', decisionsIndex: 'local' },
    folder,
    shipping: null,
    proveLine: async ({ line }: LineToProve) => ({ proof: line, logKey: 'key' }),
    after: systemTimers.after,
  } as unknown as ProofDependencies)
  const { organization } = attestation(1)
  expect((await prove(organization, uuidOf(2)))?.proof).toContain(uuidOf(2))
  expect(await prove(organization, uuidOf(1))).toBeNull()
  await close()
  removeTemporaryDirectories()
})
