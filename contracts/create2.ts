// `bun contracts/create2.ts CONTRACT [ARGUMENT…]`: prints the address of a contract that the deterministic deployment
// proxy creates, and the transaction data for the proxy. Equal creation code, arguments and salt give equal addresses
// on every chain. Source: EIP-1014, https://github.com/Arachnid/deterministic-deployment-proxy.
import { concat, encodeDeployData, getContractAddress, type Hex, keccak256 } from 'viem'
import { type CompiledContracts, loadContracts } from './build.ts'

/** Deployed at the same address on most EVM chains. */
export const DEPLOYER: Hex = '0x4e59b44847b379578588920cA78FbF26c0B4956C'

const ZERO_SALT: Hex = `0x${'00'.repeat(32)}`

export interface Create2Deployment {
  readonly address: Hex
  /** Hash of the creation code with its arguments. */
  readonly codeHash: Hex
  /** Transaction data for the deployer. */
  readonly data: Hex
}

/** @throws Error if there is no such contract, or if it takes other arguments */
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

/** Bits of a Uniswap v4 hook's address. Each bit enables a callback; 0x80 is beforeSwap. */
const HOOK_MASK = 0x3fffn

/**
 * Returns a salt for which the hook's address enables the callbacks. Takes about 16,000 attempts, or a second. Source:
 * Uniswap v4, Hooks.sol.
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
