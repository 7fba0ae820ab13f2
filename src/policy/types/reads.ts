// On-chain state that a document names (decisions §4).

export type ReadOperand =
  | { readonly kind: 'request'; readonly fact: 'wallet.address' | 'onBehalf.address' | 'target.address' | 'tx.value' }
  /** The value depends on the parameter type: canonical address, decimal number, text, 0x-hex or boolean. */
  | { readonly kind: 'literal'; readonly value: string | boolean }

/** `int` has at most 64 bits. */
export type ReadType = 'uint256' | 'int' | 'bool' | 'address' | 'string'

interface ReadCommon {
  /** EVM chain; null for the request's chain. */
  readonly chain: string | null
}

/** Addresses are canonical. */
export type ReadDefinition = ReadCommon &
  (
    | { readonly kind: 'native-balance'; readonly of: ReadOperand }
    /** `balanceOf(of)` of ERC-20 or ERC-721. */
    | { readonly kind: 'token-balance'; readonly contract: string; readonly of: ReadOperand }
    /** ERC-721 `ownerOf(id)`. */
    | { readonly kind: 'erc721-owner'; readonly contract: string; readonly tokenId: string }
    /** ERC-1155 `balanceOf(of, id)`. */
    | {
        readonly kind: 'erc1155-balance'
        readonly contract: string
        readonly tokenId: string
        readonly of: ReadOperand
      }
    | {
        readonly kind: 'view'
        readonly contract: string
        /** ABI item with one output, as viem's readContract expects. */
        readonly abi: AbiFunctionItem
        readonly arguments: readonly ReadOperand[]
        readonly type: ReadType
      }
  )

export interface AbiParameterItem {
  readonly name: string
  readonly type: string
  readonly components?: readonly AbiParameterItem[]
}

/** Function item of a JSON ABI (Solidity, "Contract ABI Specification", JSON). */
export interface AbiFunctionItem {
  readonly type: 'function'
  readonly name: string
  readonly stateMutability: 'pure' | 'view' | 'nonpayable' | 'payable'
  readonly inputs: readonly AbiParameterItem[]
  readonly outputs: readonly AbiParameterItem[]
}

/** uint256 and int as decimal text, address in canonical form, string of at most 1,024 UTF-16 code units. */
export type ReadValue = string | boolean
