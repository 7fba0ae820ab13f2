// What every request passes: body, JSON, deadline, idempotency, limits, whose address it comes from.
import { type Place, placesOf } from '../place.ts'

export const http: readonly Place[] = [
  ...placesOf(['test/server/idempotency.test.ts'], 'src/server/idempotency.ts', [
    [
      'a claim is released though something may have been signed',
      "found.outcome === 'claimed' && !(dispatched && mayHaveActed(error))",
      "found.outcome === 'claimed'",
    ],
    [
      'a claim that was taken over is released',
      "found.outcome === 'claimed' && !(dispatched && mayHaveActed(error))",
      '!(dispatched && mayHaveActed(error))',
    ],
    ['a claim is kept though nothing was dispatched', '!(dispatched && mayHaveActed(error))', '!mayHaveActed(error)'],
    [
      'another body gets the first one’s answer',
      "if (found.outcome === 'mismatch') throw new IdempotencyKeyReusedError()",
      '',
    ],
    ['the route is not part of the claim', '`${route}\\n${body}`', '`${body}`'],
    [
      'what was signed before is not recalled',
      "if (recalled.outcome === 'decided') {",
      "if (recalled.outcome === 'expired' && uuid === '') {",
    ],
    [
      'an expired signature’s uuid is signed again',
      "if (recalled.outcome === 'expired') {",
      "if (recalled.outcome !== 'nothing' && recalled.outcome !== 'expired') {",
    ],
    [
      'the answer of a claim that was lost is sent',
      'if (standing === null) throw new IdempotencyTwinInFlightError()',
      '',
    ],
    ['an answer is kept no longer than it lives', '+ fresh.keepSeconds + KEEP_SLACK_SECONDS', '+ fresh.keepSeconds'],
    [
      'a request past its deadline has signed nothing',
      "(error.code === 'DEADLINE_EXCEEDED' ||",
      "(error.code === 'RATE_LIMITED' ||",
    ],
    ['a failure that says that nothing was signed is not believed', '(!error.nothingSigned &&', '(true &&'],
    ['what was recalled once is refused', 'unanswered.delete(claimKey)\n          return finish', 'return finish'],
    [
      'this process takes over what it is working on',
      '    refuseUnanswered(claimKey, bodyHash)\n    const endsMs',
      '    const endsMs',
    ],
    [
      'a claim of this process ends with the wall clock',
      'if (!claim.isWorking && leftMs <= 0) return',
      'if (leftMs <= 0) return',
    ],
    ['what has ended stays under way', '    unanswered.delete(claimKey)\n    return finish', '    return finish'],
    [
      'what was cut off is looked for at once',
      'unanswered.delete(claimKey)\n        await release(claim)\n      }',
      'await release(claim)\n      }\n      unanswered.delete(claimKey)',
    ],
    ['a key is forgotten before its attestation', 'if (untilSeconds > keptUntilSeconds || (', 'if (('],
    ['what was taken over is kept no longer', '(memory?.keepSeconds ?? 0) : 0', '(memory?.keepSeconds ?? 0) : 1e12'],
    ['a twin is told to come back at once', 'Math.max(1, found.expiresAtSeconds - clock.unixSeconds())', '1'],
  ]),
  ...placesOf(['test/server/deadline.test.ts'], 'src/server/deadline.ts', [
    [
      'a request’s last millisecond is its deadline',
      'entry.deadlineMs <= nowMs; entry',
      'entry.deadlineMs <= nowMs + 1; entry',
    ],
    ['work that goes on is not told', '      entry.passed = true\n', ''],
    ['the next deadline is not waited for', 'if (active > 0) arm(ring.next.deadlineMs - nowMs)', ''],
    [
      'a finished request stays in the ring',
      '              remove(entry)\n              resolve(result)',
      '              resolve(result)',
    ],
  ]),
  ...placesOf(['test/server/rate-limit.test.ts'], 'src/server/rate-limit.ts', [
    [
      'more than the burst is saved up',
      'Math.min(burst, bucket.tokens + ((nowMs',
      'Math.max(0, bucket.tokens + ((nowMs',
    ],
    ['a token more than there is', 'if (bucket.tokens + ROUNDING < cost)', 'if (bucket.tokens + 1 < cost)'],
    ['some are granted beyond what is there', 'Math.min(wanted, tokensOf(bucket))', 'wanted'],
  ]),
  ...placesOf(['test/server/shared-rate-limit.test.ts'], 'src/server/rate-bucket.ts', [
    ['each process uses the whole balance', 'Math.max(0, believed) / sharers', 'Math.max(0, believed)'],
    [
      'what was spent alone is not told',
      '    bucket.owed = burst - bucket.balance\n    bucket.lease = 0',
      '    bucket.owed = 0\n    bucket.lease = 0',
    ],
    [
      'a process that is cut off has it all',
      'Math.min(burst / processes, bucket.lease + refilled / processes)',
      'Math.min(burst, bucket.lease + refilled)',
    ],
  ]),
  ...placesOf(['test/server/strict-json.test.ts'], 'src/server/strict-json.ts', [
    [
      'a key that comes twice is taken',
      'if (parsed !== written) throw new JsonKeyDuplicateError()',
      'if (parsed > written) throw new JsonKeyDuplicateError()',
    ],
    ['a 17th level is taken', '++depth > JSON_DEPTH_MAX', '++depth > JSON_DEPTH_MAX + 1'],
    ['__proto__ is a key', "if (key === '__proto__')", "if (key === '__proto')"],
    ['lone surrogates are taken', 'if (firstEscape !== -1) checkWellFormed(value)', ''],
    ['an escaped quote ends a string', 'if (character === BACKSLASH) i++', 'if (character === BACKSLASH) i += 0'],
    ['a depth is never left', '      depth--\n', ''],
    [
      'the root may be an array',
      'value === null || Array.isArray(value)) {\n    throw new JsonShapeError',
      'value === null) {\n    throw new JsonShapeError',
    ],
  ]),
  ...placesOf(['test/server/json-body.test.ts'], 'src/server/json-body.ts', [
    [
      'a body of a byte too much is taken',
      'if (Number(contentLength) > maxBytes)',
      'if (Number(contentLength) > maxBytes + 1)',
    ],
    [
      'a chunked body of a byte too much is taken',
      'if (size > maxBytes || fragmented) {',
      'if (size > maxBytes + 1 || fragmented) {',
    ],
    [
      'a compressed body is taken',
      "contentEncoding.toLowerCase() !== 'identity'",
      "contentEncoding.toLowerCase() === 'none'",
    ],
    ['a byte order mark is hidden', 'fatal: true, ignoreBOM: true', 'fatal: true, ignoreBOM: false'],
    ['another content type is taken', "parts[0]?.trim() !== 'application/json'", "parts[0]?.trim() === 'text/plain'"],
  ]),
  ...placesOf(['test/server/client-address.test.ts'], 'src/server/client-address.ts', [
    [
      'the leftmost address is believed',
      'for (const text of hops.slice(-HOPS_MAX).reverse()) {',
      'for (const text of hops) {',
    ],
    [
      'a header is believed from anyone',
      'trustedProxies.length === 0 || !isTrusted(connected)',
      'trustedProxies.length === 0',
    ],
    ['what stands left of something unreadable is believed', 'if (hop === null) break', 'if (hop === null) continue'],
  ]),
  ...placesOf(['test/server/outbound-post.test.ts'], 'src/server/outbound-post.ts', [
    ['connections are used again', 'agent: false,', ''],
    ['a long answer is read to its end', 'if (received > answerBytesMax) break', ''],
    [
      'a receiver that says nothing is waited for',
      "outgoing.destroy(new OutboundFailedError('it took too long'))",
      'void outgoing',
    ],
  ]),
  ...placesOf(['test/attestation/job.test.ts', 'test/attestation/job-facts.test.ts'], 'src/attestation/job.ts', [
    [
      'what was not signed counts',
      "facts.settle(answer.compliant && answer.body !== '')",
      'facts.settle(answer.compliant)',
    ],
    [
      'what may have been signed does not count',
      'facts.settle(submitted && mayHaveSigned(error))',
      'facts.settle(false)',
    ],
  ]),
]
