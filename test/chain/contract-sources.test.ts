// Properties of every contract source: license, documentation, relative names, and the functions that client contracts
// call.
import { expect, test } from 'bun:test'
import { toEventSignature, toFunctionSignature } from 'viem'
import { loadContracts, standardInput } from '../../contracts/build.ts'

const TIMEOUT_MS = 120_000

type Documentation = { title?: string } & Partial<Record<'methods' | 'events' | 'errors', Record<string, unknown>>>

test('source names are relative, and sources are under the MIT license', () => {
  for (const [name, { content }] of Object.entries(standardInput().sources)) {
    expect(name).toMatch(/^(src|@openzeppelin\/contracts)\/[A-Za-z0-9/-]+\.sol$/)
    expect(content).toStartWith('// SPDX-License-Identifier: MIT\n')
  }
})

test('every contract, function, event and error is documented', TIMEOUT_MS, async () => {
  const undocumented: string[] = []
  for (const [name, { abi, metadata, sourceName }] of Object.entries(await loadContracts())) {
    if (!sourceName.startsWith('src/')) continue
    const { output } = JSON.parse(metadata) as { output: { userdoc: Documentation; devdoc: Documentation } }
    const texts = [output.userdoc, output.devdoc]
    const check = (kind: 'methods' | 'events' | 'errors', signature: string): void => {
      if (!texts.some((text) => text[kind]?.[signature] !== undefined)) undocumented.push(`${name}.${signature}`)
    }
    if (output.devdoc.title === undefined) undocumented.push(name)
    for (const item of abi) {
      if (item.type === 'function' && item.name !== 'UPGRADE_INTERFACE_VERSION') {
        check('methods', toFunctionSignature(item))
      } else if (item.type === 'event') check('events', toEventSignature(item))
      else if (item.type === 'error') {
        check('errors', `${item.name}(${item.inputs.map((input) => input.type).join(',')})`)
      }
    }
  }
  expect([...new Set(undocumented)]).toEqual([])
})

const STATEMENT = '(string,address,address,uint256,bytes,string,uint256)'
const ATTESTATION = '(string,uint256,address,bytes)'
const TASK = '(string,address,address,uint256,bytes,string,uint32,uint256)'

// Source: the interfaces of the public v2 registry and v1 service manager. Each changed field would change the selector
// that existing contracts call.
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
    const functions = contracts[name]!.abi.filter((item) => item.type === 'function')
    const signatures = functions.map((item) => toFunctionSignature(item))
    for (const signature of expected) expect(signatures).toContain(signature)
  },
  TIMEOUT_MS,
)
