// On-chain state that a document names: its definition, and the type of the result. Source: decisions §4.

/** An argument of a read: a value from the request or a literal in the document. */
export type ReadOperand =
  | { readonly kind: 'request'; readonly fact: 'wallet.address' | 'onBehalf.address' | 'target.address' | 'tx.value' }
  /**
   * Depending on the parameter's type: a canonical address, a decimal number, a text, 0x-prefixed hexadecimal, or a
   * boolean.
   */
  | { readonly kind: 'literal'; readonly value: string | boolean }

/** The type of a read's result in the policy language. `int` is a signed integer of up to 64 bits. */
export type ReadType = 'uint256' | 'int' | 'bool' | 'address' | 'string'

interface ReadCommon {
  /** The EVM chain to read from. Null for the request's chain. */
  readonly chain: string | null
}

/** Addresses are canonical EVM addresses, because reads are only for EVM chains. */
export type ReadDefinition = ReadCommon &
  (
    | { readonly kind: 'native-balance'; readonly of: ReadOperand }
    /** `balanceOf(of)` of an ERC-20 token, or of an ERC-721 collection (the number of tokens held). */
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
        /** A JSON ABI item of type function with one output, as expected by viem's readContract. */
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

/** A contract function as an item of a JSON ABI (Solidity, "Contract ABI Specification", JSON). */
export interface AbiFunctionItem {
  readonly type: 'function'
  readonly name: string
  readonly stateMutability: 'pure' | 'view' | 'nonpayable' | 'payable'
  readonly inputs: readonly AbiParameterItem[]
  readonly outputs: readonly AbiParameterItem[]
}

/** uint256 and int: decimal text. address: canonical form. bool: boolean. string: at most 1,024 UTF-16 code units. */
export type ReadValue = string | boolean
