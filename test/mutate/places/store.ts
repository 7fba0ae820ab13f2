// The store: migrations, copies, transactions, leases, the change feed, the search index.
import { type Place, placesOf } from '../place.ts'

export const store: readonly Place[] = [
  ...placesOf(['test/store/migrations.test.ts'], 'src/store/migrations.ts', [
    [
      'a newer database is opened',
      'newest > migrations.length && (worksWith === null || worksWith > migrations.length)',
      'newest < 0',
    ],
    [
      'a newer database that works with this program is refused',
      '(worksWith === null || worksWith > migrations.length)',
      '(worksWith === null || worksWith >= migrations.length)',
    ],
    [
      'a database of the next version is opened',
      'newest > migrations.length && (worksWith',
      'newest > migrations.length + 1 && (worksWith',
    ],
    [
      'a migration that was edited is taken',
      'migration === undefined || contentHash(migration) !== row.content_hash',
      'migration === undefined',
    ],
    [
      'what another process applied meanwhile is applied again',
      'if (history.applied.some((row) => row.number === migration.number)) return',
      '',
    ],
    [
      'of several unknown migrations the friendliest says with what they work',
      'const highest = Math.max(...needed)',
      'const highest = Math.min(...needed)',
    ],
    ['an unknown migration that says nothing works with anything', '?? Number.POSITIVE_INFINITY', '?? 0'],
    ['a migration tells another number', 'migration.worksWith ?? migration.number', 'migration.number'],
  ]),
  ...placesOf(['test/store/table-copy.test.ts'], 'src/store/copy/table-copy.ts', [
    [
      'PostgreSQL is not read as of one moment',
      "await transaction.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')",
      '',
    ],
    [
      'what arrived is not compared',
      'arrived.rows !== sent.rows || arrived.sha256 !== sent.sha256',
      'arrived.rows < 0',
    ],
    [
      'what arrived is counted and not compared',
      'arrived.rows !== sent.rows || arrived.sha256 !== sent.sha256',
      'arrived.rows !== sent.rows',
    ],
    ['a target that is in use is written over', '      await requireFresh(transaction, tables, fresh.contents)\n', ''],
    [
      'databases of two versions are copied',
      'sourceSchema.migrations !== targetSchema.migrations || namesOf(sourceSchema) !== namesOf(targetSchema)',
      'namesOf(sourceSchema) !== namesOf(targetSchema)',
    ],
  ]),
  ...placesOf(['test/store/table-content.test.ts'], 'src/store/copy/table-content.ts', [
    ['a text and bytes hash alike', "typeof value === 'string' ? 't' : 'b'", "'b'"],
    ['the row at a batch’s end is read twice', 'WHERE (${listed(key)}) > (', 'WHERE (${listed(key)}) >= ('],
    [
      'reading ends after the first batch',
      'if (rows.length < BATCH_ROWS || last === undefined) return',
      'if (rows.length <= BATCH_ROWS || last === undefined) return',
    ],
  ]),
  ...placesOf(['test/store/idempotency.test.ts', 'test/store/idempotency-nodes.test.ts'], 'src/store/idempotency.ts', [
    [
      'a claim that was taken over is completed',
      'SET response_status = ?, response_body = ?, keep_until_seconds = ? ${WHERE_STILL_HELD}',
      'SET response_status = ?, response_body = ?, keep_until_seconds = ? ${WHERE} AND uuid = ? AND claim_expires_at_seconds > 0 + ?*0',
    ],
    [
      'a claim that is held is taken over',
      'if (expiresAtSeconds > nowSeconds) {',
      'if (expiresAtSeconds > 2 * nowSeconds) {',
    ],
    ['another body is answered', "if (!sameBytes(row.body_hash, bodyHash)) return { outcome: 'mismatch' }", ''],
    [
      'another node looks for what it did not sign',
      '...(mayBeSigned && !isElsewhere ? { earlier } : {})',
      '...(mayBeSigned ? { earlier } : {})',
    ],
    ['a claim that was taken over has a new uuid', 'claim: { ...claim, uuid: row.uuid },', 'claim,'],
  ]),
  ...placesOf(['test/store/claim-log/log.test.ts'], 'src/store/claim-log/log.ts', [
    [
      'what other processes claimed is not read',
      'if (commitsNow === null || commitsNow !== commits) await catchUp(table)',
      '',
    ],
    [
      'a key that comes twice at once is claimed twice',
      'const own = newestOf(entries, operation.digest)',
      'const own = -1',
    ],
    [
      'of one key’s claims in a commit the first counts',
      '  let index = entries.length - 1\n  while (index >= 0 && !sameHash(entries[index]!.digest, digest)) index--\n  return index',
      '  return entries.findIndex((entry) => sameHash(entry.digest, digest))',
    ],
    [
      'a claim is not remembered',
      'if (group.claims.length > 0) remember(group)',
      'next += group.claims.length / ENTRY_BYTES',
    ],
    ['a claim that was given up is held', 'last === null || last.entry.released ||', 'last === null ||'],
    ['a claim past its time is held', ' || last.entry.keepUntilSeconds <= nowSeconds', ''],
    [
      'a group is forgotten before its last claim',
      'Math.max(keepUntilSeconds, append.keepUntilSeconds)',
      'append.keepUntilSeconds',
    ],
    ['who could not be told waits for ever', '      for (const operation of failed) operation.reject(error)\n', ''],
    ['what a claim replaces is not said', 'last === null ? 0 : number - last.number', '0'],
    ['any number may wait', 'if (backlog.size >= WAITING_MAX)', 'if (backlog.size > 1e9)'],
    ['claims that were told still count as waiting', '      backlog.remove(taken.length)\n', ''],
  ]),
  ...placesOf(['test/store/claim-log/log.test.ts'], 'src/store/claim-log/claims.ts', [
    ['another body is answered', '!sameHash(current.bodyHash, bodyHash)', 'bodyHash.length === 0'],
    [
      'a claim that is held is taken over',
      'current.claimExpiresAtSeconds > nowSeconds',
      'current.claimExpiresAtSeconds > 2 * nowSeconds',
    ],
    ['a claim that was taken over has a new uuid', 'claim: { ...claim, uuid: current.uuid }', 'claim'],
    ['a claim is changed by who lost it', '&& current.claimExpiresAtSeconds === claim.claimExpiresAtSeconds', ''],
    [
      'a claim is kept for less than it was',
      'Math.max(entry.keepUntilSeconds, keepUntilSeconds)',
      'keepUntilSeconds - 900',
    ],
    ['what another node answered is signed again', "row.node === ''", "row.node !== 'x'"],
    ['nothing is carried over', 'await carryOver(log, table, options)', 'false'],
    ['what another node answered is forgotten', 'hasOthers ? table.findAnswer : null', 'null'],
  ]),
  ...placesOf(['test/store/claim-log/log.test.ts'], 'src/store/claim-log/groups.ts', [
    ['the newest group is deleted', ' AND first_number < (SELECT MAX(first_number) FROM claim_groups)', ''],
  ]),
  ...placesOf(['test/store/claim-log/moved.test.ts'], 'src/store/claim-log/moved.ts', [
    ['a key that was given up is held after a move', 'entry !== null && !entry.released', 'entry !== null'],
    ['after a move any body is answered', 'isSame ? bodyHash : entry.bodyHash', 'bodyHash'],
  ]),
  ...placesOf(['test/store/claim-log/positions.test.ts'], 'src/store/claim-log/positions.ts', [
    [
      'only the newest generation is asked',
      'for (const { slots, first } of generations) {',
      'for (const { slots, first } of generations.slice(0, 1)) {',
    ],
    ['the oldest claim comes first', 'right - left', 'left - right'],
    ['a generation takes numbers that it can’t hold', ' && number - newest.first < DISTANCE_MASK', ''],
    [
      'a claim of a generation’s last moment is forgotten',
      'if (keepUntilSeconds > generation.keepUntilSeconds) generation',
      'generation',
    ],
  ]),
  ...placesOf(
    ['test/store/group-commit.test.ts', 'test/store/sqlite.test.ts'],
    'src/store/sqlite/sqlite-transactions.ts',
    [
      [
        'a transaction that failed keeps what it wrote',
        "['ROLLBACK TO member', 'RELEASE member']",
        "['RELEASE member']",
      ],
      [
        'a failed statement that was caught is committed',
        'if (failure !== undefined) throw failure\n      return result',
        'return result',
      ],
      [
        'a statement runs after its transaction',
        "if (!state.open) throw new TransactionMisuseError('the transaction has ended')",
        '',
      ],
      [
        'results are told before the commit',
        "      await retryWhileLocked(() => writer.run('COMMIT'), deadlineMs)\n",
        "      for (const outcome of outcomes) if (outcome.kind === 'done') outcome.member.resolve(outcome.result)\n      await retryWhileLocked(() => writer.run('COMMIT'), deadlineMs)\n",
      ],
      [
        'a transaction whose turn came too late is done',
        "if (clock.monotonicMs() > deadlineMs) throw new StoreUnavailableError(new Error('no turn in time'))",
        '',
      ],
      [
        'the disk is not waited for',
        "survives === 'power-loss' ? 'PRAGMA synchronous = FULL'",
        "survives === 'power-loss' ? 'PRAGMA synchronous = NORMAL'",
      ],
    ],
  ),
  ...placesOf(['test/store/change-feed.test.ts'], 'src/store/change-feed.ts', [
    [
      'a change that could not be handled is lost',
      '        onChange(change)\n        // Advance only after the call, so that a change whose handling failed is reported again.\n        sequence = change.sequence',
      '        sequence = change.sequence\n        onChange(change)',
    ],
    [
      'changes that were trimmed are not missed',
      'if (changes[0]?.sequence !== sequence + 1) {',
      'if (changes.length === 0) {',
    ],
    ['an older copy of the database is not noticed', 'if (newest < sequence) {', 'if (newest < 0) {'],
    [
      'a poll under way is enough to catch up',
      'if (underWay !== undefined) await underWay.catch(() => undefined)\n    await poll()',
      'await (underWay ?? poll())',
    ],
    [
      'a feed that reads nothing is healthy',
      'healthy: () => running && clock.monotonicMs() - lastReadMs <= unhealthyAfterMs',
      'healthy: () => running',
    ],
    [
      'a mark that was seen before the rows failed is kept',
      '      await readUnread()\n      seenMark = mark',
      '      seenMark = mark\n      await readUnread()',
    ],
    ['a wake during a poll is lost', '    else wokenAgain = true', ''],
  ]),
  ...placesOf(
    ['test/server/shared-rate-limit.test.ts', 'test/long/service/sharing.test.ts'],
    'src/store/rate-leases.ts',
    [
      ['what a process owes is not taken', 'Math.min(burst, refilled - owed)', 'Math.min(burst, refilled)'],
      ['more is leased than there is', 'Math.max(0, Math.min(wanted, left))', 'wanted'],
    ],
  ),
  ...placesOf(
    ['test/cluster/leader.test.ts', 'test/cluster/leader-slow-store.test.ts', 'test/store/duty-races.test.ts'],
    'src/store/leader-lease.ts',
    [
      [
        'a lease that was renewed since is taken',
        'WHERE name = ? AND holder = ? AND term = ? AND beat = ? RETURNING holder, term, beat`',
        'WHERE name = ? AND holder = ? AND term = ? AND beat >= 0 * ? RETURNING holder, term, beat`',
      ],
    ],
  ),
  ...placesOf(['test/store/decision-index.test.ts'], 'src/store/decision-index/reader.ts', [
    ['a page begins with the last one of the page before', 'AND (at, number) < (?, ?)', 'AND (at, number) <= (?, ?)'],
    ['the end of a time is part of it', "parts.push('at < ?')", "parts.push('at <= ?')"],
    ['the beginning of a time is not part of it', "parts.push('at >= ?')", "parts.push('at > ?')"],
    [
      'a search that took too long goes on',
      'if (goesOn && monotonicMs() - startedMs > limitMs) {',
      'if (goesOn && monotonicMs() < startedMs) {',
    ],
    ['a search comes back to where it was for ever', 'after === null || generation.highest_at < after.atMs', 'true'],
    [
      'a count that took too long says that it is exact',
      'return { count, exact: false }',
      'return { count, exact: true }',
    ],
    [
      'a full last page promises another',
      'found.length > limit ? shown.at(-1) : undefined',
      'found.length >= limit ? shown.at(-1) : undefined',
    ],
    [
      'what is not known to be complete is shown',
      'found.filter(({ at }) => at > highest_at)',
      'found.filter(({ at }) => at > 0)',
    ],
  ]),
  ...placesOf(['test/store/postgres-locale.test.ts'], 'src/store/postgres/postgres-words.ts', [
    ['texts are sorted by the database’s own language', '\'TEXT COLLATE "C"\'', "'TEXT'"],
  ]),
  ...placesOf(['test/long/cli/migrate.test.ts'], 'src/store/copy/moved.ts', [
    ['a store that was moved away is opened', 'if (row !== undefined) throw movedError(row.value)', ''],
  ]),
]
