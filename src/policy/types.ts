// The shapes of a policy: the document people write, the facts it reads, and the compiled form that evaluates.
// Source: decisions §4.
import type { OptionalField, PolicyRevision, Target } from '../domain/target.ts'
import type { Verdict } from '../domain/verdict.ts'

export type RuleKind = 'allow' | 'deny' | 'require'

export interface PolicyRule {
  readonly id: string
  readonly kind: RuleKind
  /** A CEL expression of type bool. */
  readonly expression: string
  readonly code: string | null
  readonly message: string | null
}

/** `constants.<name>`: one value, or a list of values, of one type. */
export interface PolicyConstant {
  readonly name: string
  /** As the document says it, for example "address" or "ether". */
  readonly type: string
  /** As written; exactly one unless it is a list. */
  readonly values: readonly string[]
  readonly isList: boolean
}

/** `reads.<name>`: state on chain. */
export interface PolicyRead {
  readonly name: string
  /** In the policy language. */
  readonly type: ReadType
  readonly definition: ReadDefinition
}

/** A list as a test has it. */
export interface TestList {
  /** Canonical. */
  readonly addresses: readonly string[]
  readonly ageSeconds: number
}

/** What a test expects. `ruleId` null is the default, undefined any. */
export interface TestExpectation {
  /** `failure`: the rule can't be evaluated, so there is no verdict. */
  readonly outcome: 'allow' | 'deny' | 'failure'
  readonly ruleId: string | null | undefined
}

/** A request with facts, and the verdict that the policy gives to it. Saving a policy runs its tests. */
export interface PolicyTest {
  readonly name: string
  readonly request: RequestFacts
  readonly external: ExternalFacts
  readonly lists: Readonly<Record<string, TestList>>
  readonly expected: TestExpectation
}

export interface PolicyDocument {
  readonly name: string
  readonly description: string
  /** The verdict when no rule decides. `deny` unless stated. */
  readonly default: 'allow' | 'deny'
  /** v1: how many attester keys sign; 1 unless stated. */
  readonly quorum: number
  readonly constants: readonly PolicyConstant[]
  /** Functions of EVM contracts whose calls the rules may read. */
  readonly abi: readonly AbiFunctionItem[]
  /** The same for a Solana program: the content of an Anchor IDL file; null without. */
  readonly idl: unknown
  readonly reads: readonly PolicyRead[]
  readonly rules: readonly PolicyRule[]
  readonly tests: readonly PolicyTest[]
}

/** Everything a rule may read about one request. Values are canonical (see domain/address.ts). */
export interface RequestFacts {
  readonly chainName: string
  readonly chainFamily: 'evm' | 'solana'
  /** EIP-155 id; 0 on Solana. */
  readonly chainId: number
  readonly from: string
  /** The zero address when the request names a project instead of a contract. */
  readonly to: string
  /** Wei or lamports, canonical decimal. */
  readonly value: string
  /** `0x` hex, verbatim. */
  readonly data: string
  /** Canonical text of an IP address, at most 64 characters; empty when not sent. */
  readonly userIp: string
  /** The time of the request, Unix seconds. */
  readonly nowSeconds: number
}

/**
 * What a compiled policy asks for beyond the request itself. Plain JSON, without repeats, in a fixed order; a policy that
 * asks for nothing has none, and costs nothing.
 */
export type FactNeed = ListNeed | GeographyNeed | IdentityNeed | ScreenerNeed | ReadNeed | VelocityNeed

/** Looked up in the worker by a ListReader: nothing has to be collected. */
export interface ListNeed {
  readonly kind: 'list'
  /** A list of the organization, or else a shared one. */
  readonly list: string
  /** The least of the ages that rules demand; null when none demands one. */
  readonly maxAgeSeconds: number | null
}

/** Where the client's address is, and whether it is an anonymous network's. */
export interface GeographyNeed {
  readonly kind: 'geography'
}

/** Who the wallet belongs to. */
export interface IdentityNeed {
  readonly kind: 'identity'
}

/** What a configured screener says of the wallet. */
export interface ScreenerNeed {
  readonly kind: 'screener'
  readonly screener: string
}

/** State on chain that the document names. */
export interface ReadNeed {
  readonly kind: 'read'
  /** The document's name for it: one policy's names mean nothing to another, so cache by `definition`. */
  readonly read: string
  readonly definition: ReadDefinition
}

/** What this wallet did in this project within a window that ends now. Kept by the service itself, not collected. */
export interface VelocityNeed {
  readonly kind: 'velocity'
  readonly windowSeconds: number
}

/** A value of a read that comes from the request, or stands in the document. */
export type ReadOperand =
  | { readonly kind: 'request'; readonly fact: 'wallet.address' | 'target.address' | 'tx.value' }
  /** A canonical address, a decimal number, a text, 0x-hex, or a boolean, as the parameter's type wants it. */
  | { readonly kind: 'literal'; readonly value: string | boolean }

/** What a read yields, in the policy language. `int` is a signed integer of up to 64 bits. */
export type ReadType = 'uint256' | 'int' | 'bool' | 'address' | 'string'

interface ReadCommon {
  /** The EVM chain to read on; null is the request's. */
  readonly chain: string | null
}

/** Addresses are canonical and EVM: reads are for EVM chains. */
export type ReadDefinition = ReadCommon &
  (
    | { readonly kind: 'native-balance'; readonly of: ReadOperand }
    /** `balanceOf(of)` of an ERC-20 token, or of an ERC-721 collection: how many it holds. */
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
        /** One ABI item of type function with one output, as JSON ABI has it: viem's readContract takes it. */
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

/** A function of a contract as JSON ABI has it (Solidity, "Contract ABI Specification", JSON). */
export interface AbiFunctionItem {
  readonly type: 'function'
  readonly name: string
  readonly stateMutability: 'pure' | 'view' | 'nonpayable' | 'payable'
  readonly inputs: readonly AbiParameterItem[]
  readonly outputs: readonly AbiParameterItem[]
}

/** uint256 and int in decimal; an address canonical; bool as such; a text of at most 1,024 UTF-16 code units. */
export type ReadValue = string | boolean

/** Null where the data has no answer for this address: unknown is not "no". */
export interface GeographyFacts {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country: string | null
  /** ISO 3166-2 with its country, for example "US-NY". */
  readonly region: string | null
  /** Any of the four below, or what the file calls anonymous. */
  readonly anonymous: boolean | null
  readonly vpn: boolean | null
  readonly proxy: boolean | null
  readonly tor: boolean | null
  readonly hosting: boolean | null
}

export interface IdentityFacts {
  /** At the organization's current level (spec, verification-level rule). */
  readonly verified: boolean
  /** Null unless verified. */
  readonly type: 'individual' | 'business' | null
  /** Of the verification: basic 1, standard 2, enhanced 3; 0 when not verified. */
  readonly level: number
  /** Null unless verified. */
  readonly verifiedAtSeconds: number | null
}

/** A field that the screener's answer is not mapped to is null. */
export interface ScreenerFacts {
  readonly flagged: boolean | null
  /** A whole number, as the screener scales it; at most 2^53 either way. */
  readonly score: number | null
  /** At most 64, each of at most 64 characters. */
  readonly categories: readonly string[] | null
}

/** Earlier compliant decisions and those under way, this one left out. */
export interface VelocityFacts {
  /** By wallet and project, on all chains. */
  readonly count: number
  /** By wallet, project and chain: wei or lamports, canonical decimal. */
  readonly value: string
}

/**
 * What was collected for one request: plain JSON, since it travels to a worker as text. A part that was asked for and
 * can't be had is null, and a rule that reads it then fails (503); a part that was not asked for is left out.
 */
export interface ExternalFacts {
  readonly geography?: GeographyFacts | null
  readonly identity?: IdentityFacts | null
  /** By screener. */
  readonly screeners?: Readonly<Record<string, ScreenerFacts | null>>
  /** By the document's name of the read. */
  readonly reads?: Readonly<Record<string, ReadValue | null>>
  /** By the window in seconds. Null: the counters are full or unavailable. */
  readonly velocity?: Readonly<Record<string, VelocityFacts>> | null
}

/** Keyed hashes of what is personal, so that the decision log can show what a verdict rested on without saying it. */
export interface FactDigests {
  readonly client_ip?: string
  readonly identity?: string
}

/** What travels with a job. */
export interface CarriedFacts extends ExternalFacts {
  readonly digests?: FactDigests
  /** What only the shadow revision needs. Its names stand before those above: two revisions may mean two things by one. */
  readonly shadow?: ExternalFacts
  /** The request lacks a field that the shadow revision reads, so that one has no verdict. */
  readonly shadowless?: true
}

/** For whom facts are collected. Addresses and numbers are canonical, as in RequestFacts. */
export interface FactSubject extends RequestFacts {
  readonly organizationId: string
  readonly projectId: string
  /** Of the key that asks: a test key sees test identities. */
  readonly environment: 'live' | 'test'
  /** Absolute, monotonic milliseconds: what is not known by then is null (invariant 4). */
  readonly deadlineMs: number
}

/** Asks the sources outside the workers. */
export interface FactCollector {
  /**
   * Answers at once where everything is at hand. Needs of kind `list` and `velocity` are others' to meet: they are
   * passed over. Never rejects: what can't be had is null.
   */
  collect(needs: readonly FactNeed[], subject: FactSubject): ExternalFacts | Promise<ExternalFacts>
}

/** The lists that one organization's policies see. Synchronous: they are in memory that all workers share. */
export interface ListReader {
  /** False also when there is no such list: ask ageSeconds first where that matters. */
  contains(listName: string, canonicalAddress: string): boolean
  /**
   * Seconds since the source confirmed the list's content; 0 for a list that is kept by hand. Null: there is no such
   * list, or nothing of it was ever loaded.
   */
  ageSeconds(listName: string): number | null
}

export interface ListReaders {
  of(organizationId: string): ListReader
}

/**
 * Each organization's own two, looked up before its policies: a deny entry beats an allow entry, an allow entry beats
 * the policy (decisions §4, Duties). ageSeconds is null for an organization that has none.
 */
export const DENY_LIST = 'deny'
export const ALLOW_LIST = 'allow'

/** What a policy is evaluated on. */
export interface EvaluationFacts extends RequestFacts {
  /** Left out when the policy needs none. */
  readonly external?: ExternalFacts
  readonly lists?: ListReader
}

/** What decides: policies that differ in their names, descriptions and tests alone share one. */
export interface PolicyProgram {
  /** Optional request fields that some rule reads. */
  readonly requires: readonly OptionalField[]
  /** Facts beyond the request that some rule reads. */
  readonly needs: readonly FactNeed[]
  /**
   * @throws PolicyEvaluationError when a rule fails (overflow, a wrong type at run time, a fact that can't be had): a
   *   failure, never a verdict.
   */
  evaluate(facts: EvaluationFacts): Verdict
}

/** A document and what it compiles to. */
export interface CompiledPolicy extends PolicyProgram {
  readonly document: PolicyDocument
}

/** A revision as workers are given it: read on the main thread, where its text was held against its hash. */
export interface ReadRevision {
  readonly id: string
  /**
   * A PolicyDocument as JSON, without what only reading it is for: one text, which costs a thread that holds ten thousand
   * of them little. Null where the revision can't be used.
   */
  readonly document: string | null
  /** Characters of its text: what keeping it weighs. */
  readonly size: number
}

/** A target as the store knows it. The catalog adds the rest from the compiled revisions. */
export type TargetRecord = Omit<Target, 'requires'>

/** A target with what has to be collected before a worker can decide. */
export interface ResolvedTarget extends Target {
  readonly needs: readonly FactNeed[]
  /** What only the shadow revision needs: it must not hold up an answer for long. */
  readonly shadowNeeds: readonly FactNeed[]
  readonly shadowRequires: readonly OptionalField[]
}

/**
 * Where the catalog loads from. Each call names one organization's row, except `loadRevision`, whose id comes only from
 * a target already loaded for its organization. Rejects when the store is unavailable: that is never "not found".
 */
export interface PolicySource {
  /** The project with this verification hash, or null when the organization has none. */
  loadProjectTarget(organizationId: string, verificationHash: string): Promise<TargetRecord | null>
  /** The project that this contract or program (canonical address) is bound to on this chain, or null. */
  loadBindingTarget(organizationId: string, chainName: string, address: string): Promise<TargetRecord | null>
  /** The immutable revision, or null when there is none of this id. */
  loadRevision(revisionId: string): Promise<PolicyRevision | null>
}
