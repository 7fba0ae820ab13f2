// Facts from outside: lists, velocity, geography, chains, screeners, and where their URLs may lead.
import { type Place, placesOf } from '../place.ts'

export const facts: readonly Place[] = [
  ...placesOf(['test/facts/velocity.test.ts', 'test/facts/velocity-exchange.test.ts'], 'src/facts/velocity.ts', [
    [
      'two at once are both the last that a limit allows',
      '      add(history.pending, chain.name, 1, value)\n      return {',
      '      return {',
    ],
    ['a denied request counts', 'if (compliant) record(history', 'if (compliant || value >= 0n) record(history'],
    [
      'tokens of two chains are added up',
      'tally.values.set(chainName, (tally.values.get(chainName) ?? 0n) + value)',
      "tally.values.set('', (tally.values.get('') ?? 0n) + value)",
    ],
    [
      'a window ends one part early',
      '(number + 1) * width <= nowSeconds - windowSeconds',
      'number * width <= nowSeconds - windowSeconds',
    ],
    [
      'one wallet at the head keeps new ones from being counted',
      'if (expiresAtSeconds <= nowSeconds && pending.count === 0) histories.delete(key)',
      'if (expiresAtSeconds > nowSeconds || pending.count > 0) break\n      histories.delete(key)',
    ],
    [
      'a wallet that is being decided is forgotten',
      'if (expiresAtSeconds <= nowSeconds && pending.count === 0) histories',
      'if (expiresAtSeconds <= nowSeconds) histories',
    ],
    [
      'what another process told again is added twice',
      'add(part.total, chainName, count - before.count, value - before.value)',
      'add(part.total, chainName, count, value)',
    ],
    [
      'a full room says zero instead of nothing',
      'if (nowSeconds < incompleteUntilSeconds && !histories.has(key)) return null',
      '',
    ],
    ['what could not be told is lost', 'for (const own of told) untold.add(own)', ''],
  ]),
  ...placesOf(['test/facts/remote.test.ts', 'test/facts/screener.test.ts'], 'src/lib/breaker.ts', [
    ['it opens one failure late', 'inARow >= failures', 'inARow > failures'],
    ['many try at once when it may be tried again', '      nextTryMs = nowMs + openMs\n', ''],
    ['a success leaves it open', '      inARow = 0\n', ''],
  ]),
  ...placesOf(['test/facts/remote.test.ts'], 'src/facts/remote.ts', [
    ['an answer is used past its time', 'clock.monotonicMs() < found.untilMs', 'clock.monotonicMs() >= 0'],
    [
      'any number of questions is under way',
      'underWay.size >= underWayMax || !breaker.permits()',
      '!breaker.permits()',
    ],
    ['the same thing is asked twice at once', 'if (joined !== undefined) return joined', ''],
  ]),
  ...placesOf(['test/facts/ask-chains.test.ts'], 'src/facts/ask-chains.ts', [
    ['a wallet gets the answer about another', "keyOf?.(request) ?? ''", "''"],
  ]),
  ...placesOf(['test/facts/geography.test.ts'], 'src/facts/geography.ts', [
    [
      'a file of IPv4 addresses answers for IPv6',
      'if (ipVersion === 4 && isIPv6(canonicalIp)) return GEOGRAPHY_UNKNOWN',
      '',
    ],
    ['a damaged file is opened', 'for (const probe of PROBES) reader.get(probe)', ''],
  ]),
  ...placesOf(['test/facts/lists/refresh-list.test.ts'], 'src/facts/lists/refresh-list.ts', [
    ['an empty source empties the list', "entries.added === 0 ? 'it holds", "entries.added < 0 ? 'it holds"],
    ['a bad line is passed over', 'first !== undefined && !skipsBadLines', 'first !== undefined && skipsBadLines'],
    [
      'a source that was changed meanwhile is confirmed',
      'if (!(await sources.confirm(source, nextDueAtSeconds))) throw new ListChangedError(KEEPER_CHANGED)',
      'await sources.confirm(source, nextDueAtSeconds)',
    ],
    ['a failure waits as long as a success', 'Math.min(intervalSeconds, RETRY_SECONDS)', 'intervalSeconds'],
  ]),
  ...placesOf(['test/facts/lists/entry-sink.test.ts'], 'src/facts/lists/entry-sink.ts', [
    [
      'an address that comes twice is two entries',
      'if (last !== null && Buffer.compare(last, key) === 0) {',
      'if (last === key) {',
    ],
    ['keys that begin alike are out of order', 'let byte = width - DIGIT_BYTES;', 'let byte = DIGIT_BYTES;'],
  ]),
  ...placesOf(['test/facts/reachable.test.ts'], 'src/facts/reachable.ts', [
    ['cloud metadata is reached', "['169.254.0.0', 16],", ''],
    ['a private address is reached', "if (inside(PRIVATE)) return reach === 'private'", ''],
    ['a mapped address is not looked through', 'const text = unmapped(address)', 'const text = address'],
    ['one good address of a name is enough', 'addresses.every(({ address }) =>', 'addresses.some(({ address }) =>'],
    [
      'plain http leads anywhere',
      "if (url.protocol === 'http:' && reach !== 'loopback') throw new UrlRefusedError('must be an https URL')",
      '',
    ],
    [
      'a URL holds credentials',
      "if (url.username !== '' || url.password !== '') throw",
      "if (url.password === 'x') throw",
    ],
  ]),
  ...placesOf(['test/facts/guarded-fetch.test.ts'], 'src/facts/guarded-fetch.ts', [
    [
      'an answer of any size is read',
      'if (received > maxBytes) throw',
      'if (received > Number.MAX_SAFE_INTEGER) throw',
    ],
    [
      'an encoded answer is taken',
      "if (encoding !== undefined && encoding !== 'identity') {",
      "if (encoding === 'none') {",
    ],
  ]),
  ...placesOf(['test/facts/block-height.test.ts'], 'src/facts/block-height.ts', [
    [
      'a height is kept for two blocks',
      '- known.readAtMs < options.blockTimeMs ?',
      '- known.readAtMs < 2 * options.blockTimeMs ?',
    ],
    [
      'a height’s age begins with the answer',
      'known = { height, readAtMs: startedMs }',
      'known = { height, readAtMs: options.clock.monotonicMs() }',
    ],
  ]),
  ...placesOf(['test/facts/collect.test.ts'], 'src/facts/collect.ts', [
    [
      'facts of before a change are confirmed',
      'if (now === confirmedAt) return true',
      'if (now >= confirmedAt) return true',
    ],
    ['facts that come late change a request’s', '{ screeners: { ...screeners } }', '{ screeners }'],
    [
      'the relayer is asked about instead of the user',
      'return { ...subject, request: { ...request, from: onBehalf, chain } }',
      'return subject',
    ],
  ]),
  ...placesOf(['test/facts/velocity-exchange.test.ts'], 'src/facts/velocity-exchange.ts', [
    [
      'a stopping process keeps its last counts to itself',
      '      await exchange.settled()\n      await tellAll()',
      '      await exchange.settled()',
    ],
  ]),
]
