// What a rule may read about a request: one table from which the environment's types, the checks at save time and the
// fields a policy requires are all derived. Values are made when they are read, and only then.
import { EVM_ZERO_ADDRESS } from '../domain/address.ts'
import type { OptionalField } from '../domain/target.ts'
import type { RequestFacts } from './types.ts'
import { Uint256 } from './uint256.ts'

/** The `address` of the policy language: equal text is equal bytes (see domain/address.ts). */
export class AddressValue {
  readonly text: string
  constructor(canonicalText: string) {
    this.text = canonicalText
  }
}

const NO_FACTS: RequestFacts = {
  chainName: '',
  chainFamily: 'evm',
  chainId: 0,
  from: EVM_ZERO_ADDRESS,
  to: EVM_ZERO_ADDRESS,
  value: '0',
  data: '0x',
  userIp: '',
  nowSeconds: 0,
}

class FactGroup {
  protected request: RequestFacts = NO_FACTS
  bind(request: RequestFacts): void {
    this.request = request
  }
}

export class WalletFacts extends FactGroup {
  get address(): AddressValue {
    return new AddressValue(this.request.from)
  }
}

export class TargetFacts extends FactGroup {
  get address(): AddressValue {
    return new AddressValue(this.request.to)
  }
}

export class ChainFacts extends FactGroup {
  get name(): string {
    return this.request.chainName
  }
  get id(): bigint {
    return BigInt(this.request.chainId)
  }
  get family(): string {
    return this.request.chainFamily
  }
}

export class TransactionFacts extends FactGroup {
  // Several rules compare the value, and reading a decimal into a bigint is the dearest of these conversions.
  private amount: Uint256 | null = null

  override bind(request: RequestFacts): void {
    this.request = request
    this.amount = null
  }
  get value(): Uint256 {
    this.amount ??= Uint256.ofCanonical(this.request.value)
    return this.amount
  }
  get data_size(): bigint {
    return BigInt((this.request.data.length - 2) / 2)
  }
  get selector(): string {
    const { data } = this.request
    return data.length < 10 ? '' : data.slice(0, 10).toLowerCase()
  }
}

export class ClientFacts extends FactGroup {
  get ip(): string {
    return this.request.userIp
  }
}

export class RequestFactsGroup extends FactGroup {
  get time(): Date {
    return new Date(this.request.nowSeconds * 1000)
  }
}

/** One fact. `maxLength` bounds a string in UTF-16 code units, for the cost estimate. */
export interface FactField {
  readonly type: 'address' | 'uint256' | 'int' | 'string' | 'google.protobuf.Timestamp'
  readonly description: string
  readonly maxLength?: number
  /** The request field that has to be sent when a rule reads this fact (decisions §2). */
  readonly requires?: OptionalField
  /** What is wrong with a literal that this fact is compared with, because it could never be equal; else null. */
  readonly refuseLiteral?: (literal: string) => string | null
}

export interface FactGroupDefinition {
  /** The name of the group's type in the environment. */
  readonly typeName: string
  readonly constructor: new () => FactGroup
  readonly fields: Readonly<Record<string, FactField>>
}

const SELECTOR = /^0x[0-9a-f]{8}$/

export const FACTS: Readonly<Record<string, FactGroupDefinition>> = {
  wallet: {
    typeName: 'Wallet',
    constructor: WalletFacts,
    fields: { address: { type: 'address', description: 'The end user’s wallet.' } },
  },
  chain: {
    typeName: 'Chain',
    constructor: ChainFacts,
    fields: {
      name: { type: 'string', maxLength: 64, description: 'For example "ethereum".' },
      id: { type: 'int', description: 'The EIP-155 chain id; 0 on Solana.' },
      family: {
        type: 'string',
        maxLength: 8,
        description: '"evm" or "solana".',
        refuseLiteral: (literal) =>
          literal === 'evm' || literal === 'solana' ? null : 'chain.family is "evm" or "solana"',
      },
    },
  },
  target: {
    typeName: 'Target',
    constructor: TargetFacts,
    fields: {
      address: {
        type: 'address',
        description: 'The contract or program; the zero address when the request names a project.',
      },
    },
  },
  tx: {
    typeName: 'Transaction',
    constructor: TransactionFacts,
    fields: {
      value: { type: 'uint256', requires: 'msg_value', description: 'Native tokens sent, in wei or lamports.' },
      data_size: { type: 'int', requires: 'data', description: 'Bytes of call data.' },
      selector: {
        type: 'string',
        maxLength: 10,
        requires: 'data',
        description: 'The first four bytes of the call data as lower-case 0x-hex; empty when there are fewer.',
        refuseLiteral: (literal) =>
          literal === '' || SELECTOR.test(literal)
            ? null
            : 'tx.selector is 0x and 8 lower-case hex digits, or empty when the data is shorter',
      },
    },
  },
  client: {
    typeName: 'Client',
    constructor: ClientFacts,
    fields: {
      ip: { type: 'string', maxLength: 64, requires: 'user_ip', description: 'The end user’s IP address as sent.' },
    },
  },
  request: {
    typeName: 'Request',
    constructor: RequestFactsGroup,
    fields: {
      time: { type: 'google.protobuf.Timestamp', description: 'The time of the request, whole seconds, UTC.' },
    },
  },
}

/** The variables of one evaluation. Made once and bound to request after request: evaluation is synchronous. */
export interface FactsContext {
  readonly variables: Readonly<Record<string, unknown>>
  bind(request: RequestFacts): void
  /** Lets go of the last request. */
  release(): void
}

export const createFactsContext = (): FactsContext => {
  const variables: Record<string, FactGroup> = {}
  for (const [name, definition] of Object.entries(FACTS)) variables[name] = new definition.constructor()
  const groups = Object.values(variables)
  const bind = (request: RequestFacts): void => {
    for (const group of groups) group.bind(request)
  }
  return { variables, bind, release: () => bind(NO_FACTS) }
}
