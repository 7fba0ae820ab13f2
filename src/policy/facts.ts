// Facts about a request. Validation, required fields, needed sources and the documentation are derived from this table.

import { durationValue } from './cel/syntax.ts'
import { type FactGroup, matching, oneOf } from './fact-field.ts'
import { FACT_SOURCES } from './sources/all.ts'
import type { AddressValue, Uint256 } from './values.ts'

const SELECTOR = /^0x[0-9a-f]{8}$/
const DISCRIMINATOR = /^0x[0-9a-f]{16}$/
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const

const SECONDS_PER_DAY = 86_400

const request = {
  time: {
    type: 'google.protobuf.Timestamp',
    description: 'Time of the request, in whole seconds.',
    read: (evaluation) => new Date(evaluation.request.nowSeconds * 1000),
  },
  hour: {
    type: 'int',
    description: 'Hour in UTC, 0 to 23.',
    read: (evaluation) => BigInt(Math.floor((evaluation.request.nowSeconds % SECONDS_PER_DAY) / 3600)),
  },
  weekday: {
    type: 'string',
    maxLength: 9,
    description: 'Weekday in UTC, such as "monday".',
    refuseLiteral: oneOf(WEEKDAYS, `request.weekday must be one of ${WEEKDAYS.join(', ')}`),
    // The first day, 1970-01-01, was a Thursday.
    read: (evaluation) => WEEKDAYS[(Math.floor(evaluation.request.nowSeconds / SECONDS_PER_DAY) + 4) % 7],
  },
  time_of_day: {
    type: 'google.protobuf.Duration',
    description: 'Time since midnight UTC, such as duration("9h30m").',
    read: (evaluation) => durationValue(evaluation.request.nowSeconds % SECONDS_PER_DAY),
  },
} satisfies FactGroup

const call = {
  decoded: {
    type: 'bool',
    requires: 'data',
    description: 'Whether the data is a complete, well-formed call to a function in the abi or idl.',
    read: (evaluation) => evaluation.isDecoded,
  },
  function: {
    type: 'string',
    maxLength: 128,
    requires: 'data',
    description: 'Function name; empty if the abi or idl lacks the function.',
    read: (evaluation) => evaluation.call?.name ?? '',
  },
  signature: {
    type: 'string',
    maxLength: 1024,
    requires: 'data',
    description: 'Function with types: "transfer(address,uint256)"; empty if the abi or idl lacks the function.',
    read: (evaluation) => evaluation.call?.signature ?? '',
  },
  discriminator: {
    type: 'string',
    maxLength: 18,
    requires: 'data',
    description: 'First eight bytes of the data in lowercase 0x-hex; empty if the data is shorter.',
    refuseLiteral: matching(
      DISCRIMINATOR,
      'call.discriminator must be 0x followed by 16 lowercase hex digits, or empty',
      true,
    ),
    read: ({ request: { data } }) => (data.length < 18 ? '' : data.slice(0, 18).toLowerCase()),
  },
} satisfies FactGroup

const REQUEST_FACTS: Readonly<Record<string, FactGroup>> = {
  wallet: {
    address: {
      type: 'address',
      description: 'Wallet of the end user.',
      read: (evaluation): AddressValue => evaluation.wallet,
    },
  },
  onBehalf: {
    present: {
      type: 'bool',
      description: 'Whether the request contains on_behalf.',
      read: ({ request }) => request.onBehalf !== '',
    },
    address: {
      type: 'address',
      description: 'Wallet in on_behalf; wallet.address if the request omits on_behalf.',
      read: (evaluation): AddressValue => evaluation.represented,
    },
  },
  chain: {
    name: {
      type: 'string',
      maxLength: 64,
      description: 'Name of the chain, such as "ethereum".',
      read: (evaluation) => evaluation.request.chain.name,
    },
    id: {
      type: 'int',
      description: 'EIP-155 chain id; 0 on Solana.',
      read: ({ request: { chain } }) => BigInt(chain.family === 'evm' ? chain.chainId : 0),
    },
    family: {
      type: 'string',
      maxLength: 8,
      description: '"evm" or "solana".',
      refuseLiteral: oneOf(['evm', 'solana'], 'chain.family must be "evm" or "solana"'),
      read: (evaluation) => evaluation.request.chain.family,
    },
  },
  target: {
    address: {
      type: 'address',
      description: 'Contract or program; the zero address if the request names a project.',
      read: (evaluation): AddressValue => evaluation.target,
    },
  },
  tx: {
    value: {
      type: 'uint256',
      requires: 'msg_value',
      description: 'Native tokens sent, in wei or lamports.',
      read: (evaluation): Uint256 => evaluation.value,
    },
    data_size: {
      type: 'int',
      requires: 'data',
      description: 'Size of the call data in bytes.',
      read: ({ request: { data } }) => BigInt((data.length - 2) / 2),
    },
    selector: {
      type: 'string',
      maxLength: 10,
      requires: 'data',
      description: 'First four bytes of the data in lowercase 0x-hex; empty if the data is shorter.',
      refuseLiteral: matching(SELECTOR, 'tx.selector must be 0x followed by 8 lowercase hex digits, or empty', true),
      read: ({ request: { data } }) => (data.length < 10 ? '' : data.slice(0, 10).toLowerCase()),
    },
  },
  call,
  request,
  client: {
    ip: {
      type: 'string',
      maxLength: 64,
      requires: 'user_ip',
      description: 'IP address in its shortest form.',
      read: (evaluation) => evaluation.request.userIp,
    },
  },
}

const withSources = (): Readonly<Record<string, FactGroup>> => {
  const groups: Record<string, FactGroup> = { ...REQUEST_FACTS }
  for (const { group, facts } of FACT_SOURCES) groups[group] = { ...groups[group], ...facts }
  return groups
}

export const FACTS: Readonly<Record<string, FactGroup>> = withSources()
