// Proofs are refused before anything is started or asked where no decision can have the name.
import { expect, test } from 'bun:test'
import { createProofs, type ProofDependencies } from '../../src/compose/proof-service.ts'

test('what is no uuid reaches neither the index nor the tree', async () => {
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
