// The decision log: its chain, its writer, its verification, and what is read back from it.
import { type Place, placesOf } from '../place.ts'

export const decisions: readonly Place[] = [
  ...placesOf(
    ['test/decision-log/segment.test.ts', 'test/decision-log/faults.test.ts'],
    'src/decision-log/segment.ts',
    [
      ['a batch that failed is appended to', '      current = null\n      failed = open\n', ''],
      [
        'a segment that failed is not cut back',
        'const cut = succeeds(() => files.truncate(descriptor, length))',
        'const cut = succeeds(() => undefined)',
      ],
      [
        'a batch is not flushed',
        '      writeFully(files, open.descriptor, buffer, length)\n      if (sync) files.syncData(open.descriptor)',
        '      writeFully(files, open.descriptor, buffer, length)',
      ],
      ['a new segment’s folder is not flushed', '      files.syncPath(slotDirectory)\n', ''],
      ['a segment is used beyond its day', ' && Math.floor(nowMs / DAY_MS) === current.day', ''],
      ['a full segment takes one more batch', 'current.length < maxBytes', 'current.length <= maxBytes'],
      ['the chain does not move on', '    open.hash = hash\n', ''],
      ['a short write loses the rest', 'done += count', 'done = length'],
      ['torn bytes are not told', 'tornBytes,\n  })', 'tornBytes: 0,\n  })'],
      ['a stray segment is not part of the chain', '=== stray.length) tie = stray', '=== stray.length) tie = null'],
      ['a closed writer appends', "if (closed) throw new DecisionLogError('closed')", ''],
      ['records are written that can not be read back', 'for (const record of records) checkRecordable(record)', ''],
    ],
  ),
  ...placesOf(['test/decision-log/record.test.ts'], 'src/decision-log/record.ts', [
    ['keys that do not belong are read', 'if (encodeRecord(record, prev) !== line) throw', 'if (prev === line) throw'],
    ['a denial may have a signature', "require(count === 0, 'attesters')", ''],
    [
      'a compliant attestation may have none',
      "count > 0 : count === 1, 'attesters'",
      "count > 0 : count <= 1, 'attesters'",
    ],
    ['a denial may have an expiration', "require(record.expiration === 0, 'expiration')", ''],
    ['the represented user is left out of the line', 'on_behalf: record.on_behalf,\n', ''],
  ]),
  ...placesOf(['test/decision-log/verify.test.ts'], 'src/decision-log/verify-segment.ts', [
    ['a line’s hash is not compared', 'if (prev !== previousHash) note', 'if (prev === lastHash) note'],
    [
      'a changed last line of the segment before is not seen',
      'header.previous_hash !== before.lastHash',
      'header.previous_hash === null',
    ],
    ['removed lines are not seen', 'bytes < successor.previous_length', 'bytes < 0'],
    ['bytes after the last line are not seen', 'tail !== successor.previous_torn_bytes', 'tail < 0'],
    [
      'an emptied segment is not seen',
      'if (chained.previousIsEmpty) return',
      'if (chained.previousIsEmpty && before !== null) return',
    ],
    ['a missing segment is not seen', 'header.previous_segment !== before.name', 'header.previous_segment === null'],
  ]),
  ...placesOf(['test/decision-log/verify.test.ts'], 'src/decision-log/verify.ts', [
    [
      'a repeated uuid is not seen in a first pass',
      'if (!ledger.add(uuid, use)) return false',
      'if (!ledger.add(uuid, use) || pass === 1) return false',
    ],
    [
      'a repeated uuid is not seen in a later pass',
      'if (problem !== null && report.problem === null) reports.set',
      'if (problem !== null && report.problem !== null) reports.set',
    ],
    [
      'withheld lines count as decisions',
      "(kind === 'withheld' ? 'withheld' : 'decision')",
      "(kind === '' ? 'withheld' : 'decision')",
    ],
  ]),
  ...placesOf(
    ['test/decision-log/uuid-ledger.test.ts', 'test/decision-log/verify.test.ts'],
    'src/decision-log/uuid-ledger.ts',
    [
      ['a uuid that was withheld passes for decided twice', '(seen & FLAGS[use]) !== 0', 'seen !== 0'],
      ['a range is skipped', 'rangeStart += rangeWidth', 'rangeStart += 2 * rangeWidth'],
    ],
  ),
  ...placesOf(['test/decision-log/recall.test.ts'], 'src/decision-log/recall.ts', [
    [
      'the first slot without it ends the search',
      'if ((peekTime(bytes) ?? sinceMs) < sinceMs) break',
      'if ((peekTime(bytes) ?? sinceMs) < sinceMs) return null',
    ],
    ['an empty slot ends the search', 'if (position === null) continue', 'if (position === null) return null'],
    [
      'what was withheld is answered',
      "if (record.kind !== 'withheld') return record",
      'return record as DecisionRecord',
    ],
    ['the search stops one look early', '?? sinceMs) < sinceMs', '?? sinceMs) > sinceMs'],
    [
      'only the first slot is searched',
      'for (const slot of slotsOf(directory)) {\n    const slotDirectory',
      'for (const slot of slotsOf(directory).slice(0, 1)) {\n    const slotDirectory',
    ],
    ['a decision that was never answered is found', '?? Number.POSITIVE_INFINITY', '&& Number.POSITIVE_INFINITY'],
    [
      'a decision that mentions the uuid is found',
      "record.kind !== 'withheld' && record.uuid === uuid",
      "record.kind !== 'withheld'",
    ],
    [
      'all that came later is read',
      '(timeOfLast(next.value) ?? 0) > sinceMs + withinMs',
      '(timeOfLast(next.value) ?? 0) > 2 * sinceMs',
    ],
    ['a long line ends the search', 'short.length > 0 ? short : wholeLines(start, MAX_LINE_BYTES + 1)', 'short'],
  ]),
  ...placesOf(['test/decision-log/recall.test.ts'], 'src/decision-log/time-position.ts', [
    ['lines of the time itself are passed over', 'line.atMs < sinceMs', 'line.atMs <= sinceMs'],
    ['the newest file is read, whatever the time', 'one.stamp <= stamp', 'one.stamp <= `9${stamp}`'],
    [
      'a file is read from its beginning',
      'low = line.start\n      else high = middle',
      'high = middle\n      else high = middle',
    ],
  ]),
  ...placesOf(['test/decision-log/recover.test.ts'], 'src/decision-log/recover.ts', [
    [
      'a damaged line passes for one of another job',
      "if (peeked === null) throw new DecisionLineMalformedError('a line near the end of the log is damaged')",
      'if (peeked === null) continue',
    ],
    ['a damaged header is passed over', "parseHeaderLine(bytes.toString('utf8'))", ''],
    [
      'the record of another request is recovered',
      "peeked.kind !== 'withheld' && wanted.has(peeked.uuid)",
      "peeked.kind !== 'withheld'",
    ],
  ]),
  ...placesOf(['test/decision-log/scan.test.ts'], 'src/decision-log/scan.ts', [
    [
      'lines between the last look and the rotation are lost',
      '      segment.complete = true\n      return true\n',
      '      segment.complete = true\n',
    ],
    [
      'what a later segment cut off is not told',
      'header.previous_length < before.offset',
      'header.previous_length > before.offset',
    ],
    ['a position is one byte off', 'offset: next.offset + next.length + 1 }', 'offset: next.offset + next.length }'],
  ]),
  ...placesOf(['test/decision-log/answer.test.ts'], 'src/decision-log/answer.ts', [
    ['a compliant answer has a reason', 'record.compliant || (record.code', 'record.compliant && (record.code'],
    ['the task’s expiry is left out', 'expiry_block: record.expiration', 'expiry_block: 0'],
  ]),
  ...placesOf(
    ['test/decision-log/segment.test.ts', 'test/decision-log/faults.test.ts'],
    'src/decision-log/previous-segment.ts',
    [['the hash of the last line includes its newline', 'position < end - 1; )', 'position < end; )']],
  ),
  ...placesOf(['test/decision-log/tail.test.ts'], 'src/decision-log/tail.ts', [
    [
      'slots are merged the wrong way',
      'cursor.next.record.at > newest.next.record.at',
      'cursor.next.record.at < newest.next.record.at',
    ],
    ['following repeats the last line', 'offset: end.end }', 'offset: 0 }'],
  ]),
  ...placesOf(['test/decision-log/tail.test.ts'], 'src/decision-log/follow.ts', [
    [
      'a segment with a successor is read for ever',
      'if (!full && following !== undefined)',
      'if (full && following !== undefined)',
    ],
    [
      'it looks again at once though nothing is there',
      'if (!more && !signal.aborted) await wait()',
      'if (!more && signal.aborted) await wait()',
    ],
  ]),
  ...placesOf(['test/decision-log/since.test.ts'], 'src/decision-log/since.ts', [
    ['the segment that holds the time is left out', 'const next = segments[index + 1]', 'const next = segments[index]'],
  ]),
  ...placesOf(['test/store/decision-index.test.ts'], 'src/store/decision-index/writer.ts', [
    [
      'decisions that a crash cut off stay counted',
      'compliant: -compliant, denied: -denied',
      'compliant: 0, denied: 0',
    ],
  ]),
  ...placesOf(['test/store/decision-tallies.test.ts'], 'src/store/decision-index/tallies.ts', [
    ['decisions of another rule are counted with those before', 'one.rule === other.rule &&', ''],
    [
      'decisions of the next quarter are counted with those before',
      "tallyStart('time', one.atMs) === tallyStart('time', other.atMs)",
      'true',
    ],
  ]),
  ...placesOf(['test/store/decision-index.test.ts'], 'src/store/decision-index/tally-table.ts', [
    [
      'a day that is counted by its steps is counted again as a whole',
      'const lastDay = Math.floor(toMs / TALLY_DAY_MS)',
      'const lastDay = Math.ceil(toMs / TALLY_DAY_MS)',
    ],
  ]),
  ...placesOf(['test/store/shared-index.test.ts'], 'src/store/decision-index/shared-writer.ts', [
    ['rows that go stay counted', 'compliant: sign * compliant, denied: sign * denied', 'compliant, denied'],
  ]),
]
