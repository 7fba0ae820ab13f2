// What holds for every contract source: its license, its documentation, names that don't depend on the machine, and the
// function selectors that existing client contracts call.
import { expect, test } from 'bun:test'
import { toEventSignature, toFunctionSignature } from 'viem'
import { type CompiledContract, loadContracts, standardInput } from '../../contracts/build.ts'

const TIMEOUT_MS = 120_000

const ownContracts = async (): Promise<[string, CompiledContract][]> =>
  Object.entries(await loadContracts()).filter(([, { sourceName }]) => sourceName.startsWith('src/'))

interface Documentation {
  readonly methods?: Readonly<Record<string, unknown>>
  readonly events?: Readonly<Record<string, unknown>>
  readonly errors?: Readonly<Record<string, unknown>>
  readonly title?: string
}

test('source names are relative, and ours are under the MIT license', () => {
  for (const [name, { content }] of Object.entries(standardInput().sources)) {
    expect(name).toMatch(/^(src|@openzeppelin\/contracts)\/[A-Za-z0-9/-]+\.sol$/)
    expect(content).toStartWith('// SPDX-License-Identifier: MIT\n')
  }
})

test('every contract, function, event and error is documented', TIMEOUT_MS, async () => {
  const undocumented: string[] = []
  for (const [name, { abi, metadata }] of await ownContracts()) {
    const { output } = JSON.parse(metadata) as { output: { userdoc: Documentation; devdoc: Documentation } }
    const texts = [output.userdoc, output.devdoc]
    const isDocumented = (kind: 'methods' | 'events' | 'errors', key: string): boolean =>
      texts.some((text) => text[kind]?.[key] !== undefined)
    if (output.devdoc.title === undefined) undocumented.push(name)
    for (const item of abi) {
      if (item.type === 'function' && item.name !== 'UPGRADE_INTERFACE_VERSION') {
        const signature = toFunctionSignature(item)
        if (!isDocumented('methods', signature)) undocumented.push(`${name}.${signature}`)
      } else if (item.type === 'event') {
        const signature = toEventSignature(item)
        if (!isDocumented('events', signature)) undocumented.push(`${name}.${signature}`)
      } else if (item.type === 'error') {
        const signature = `${item.name}(${item.inputs.map((input) => input.type).join(',')})`
        if (!isDocumented('errors', signature)) undocumented.push(`${name}.${signature}`)
      }
    }
  }
  expect([...new Set(undocumented)]).toEqual([])
})

const STATEMENT = '(string,address,address,uint256,bytes,string,uint256)'
const ATTESTATION = '(string,uint256,address,bytes)'
const TASK = '(string,address,address,uint256,bytes,string,uint32,uint256)'

// Source: the interfaces of the public v2 registry and the public v1 service manager. A changed field changes the
// selector, and contracts written for those would no longer find the function.
test.each([
  [
    'PolicyRegistry',
    [
      `validateAttestation(${STATEMENT},${ATTESTATION})`,
      `hashStatementWithExpiry(${STATEMENT})`,
      `hashStatementSafe(${STATEMENT})`,
      'setPolicyID(string)',
      'getPolicyID(address)',
      'registerAttester(address)',
      'deregisterAttester(address)',
      'getRegisteredAttesters()',
      'isAttesterRegistered(address)',
      'usedStatementUUIDs(string)',
    ],
  ],
  [
    'TaskVerifier',
    [`validateSignatures(${TASK},address[],bytes[])`, `hashTaskWithExpiry(${TASK})`, `hashTaskSafe(${TASK})`],
  ],
] as const)(
  '%s has the functions that client contracts call',
  async (name, expected) => {
    const contracts = await loadContracts()
    const signatures = contracts[name]!.abi.flatMap((item) =>
      item.type === 'function' ? [toFunctionSignature(item)] : [],
    )
    for (const signature of expected) expect(signatures).toContain(signature)
  },
  TIMEOUT_MS,
)
