// `bun contracts/create2.ts CONTRACT [ARGUMENT…]`: where a contract gets on every chain when the deterministic deployment
// proxy makes it, and what to send to that proxy. The same creation code, arguments and salt give the same address.
// Source: EIP-1014, https://github.com/Arachnid/deterministic-deployment-proxy.
import { concat, encodeDeployData, getContractAddress, type Hex, keccak256 } from 'viem'
import { type CompiledContracts, loadContracts } from './build.ts'

/** On most EVM chains, at the same address. */
export const DEPLOYER: Hex = '0x4e59b44847b379578588920cA78FbF26c0B4956C'

const ZERO_SALT: Hex = `0x${'00'.repeat(32)}`

export interface Create2Deployment {
  readonly address: Hex
  /** Hash of the creation code with its arguments. */
  readonly codeHash: Hex
  /** What to send to the deployer. */
  readonly data: Hex
}

/** @throws Error when there is no such contract, or it takes other arguments */
export const create2Deployment = (
  contracts: CompiledContracts,
  name: string,
  parameters: readonly unknown[],
  salt: Hex = ZERO_SALT,
): Create2Deployment => {
  const contract = contracts[name]
  if (contract === undefined || contract.bytecode === '0x') throw new Error(`there is no contract ${name} to deploy`)
  const code = encodeDeployData({ abi: contract.abi, bytecode: contract.bytecode, args: parameters })
  const address = getContractAddress({ opcode: 'CREATE2', from: DEPLOYER, salt, bytecode: code })
  return { address, codeHash: keccak256(code), data: concat([salt, code]) }
}

/** Of a Uniswap v4 hook's address: each bit is a call that it wants; 0x80 is beforeSwap. */
const HOOK_MASK = 0x3fffn

/**
 * A salt by which the hook's address says which calls it wants; found after some 16,000 tries, in about a second.
 * Source: Uniswap v4, Hooks.sol.
 */
export const hookSalt = (codeHash: Hex, flags: bigint): Hex => {
  for (let number = 0n; ; number++) {
    const salt: Hex = `0x${number.toString(16).padStart(64, '0')}`
    const address = getContractAddress({ opcode: 'CREATE2', from: DEPLOYER, salt, bytecodeHash: codeHash })
    if ((BigInt(address) & HOOK_MASK) === flags) return salt
  }
}

if (import.meta.main) {
  const [name = '', ...parameters] = process.argv.slice(2)
  const { address, codeHash, data } = create2Deployment(await loadContracts(), name, parameters)
  process.stdout.write(
    `address    ${address}\ncode hash  ${codeHash}\n\ncast send ${DEPLOYER} ${data} --rpc-url URL --private-key KEY\n`,
  )
}
