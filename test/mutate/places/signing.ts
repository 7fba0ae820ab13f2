// What is signed, when, by whom, and that it is recorded before it is answered.
import { type Place, placesOf } from '../place.ts'

const WORKER = ['test/workers/decide.test.ts', 'test/workers/facts.test.ts', 'test/workers/attest.test.ts']

export const signing: readonly Place[] = [
  ...placesOf(['test/signing/statement.test.ts'], 'src/signing/statement.ts', [
    ['sender and target change places', 'writer.address(2, request.from)', 'writer.address(2, request.to)'],
    ['the policy is not part of what is signed', 'writer.text(6, policy)', "writer.text(6, '')"],
    ['the expiration is one second late', 'writer.uint(7, expiration)', 'writer.uint(7, expiration + 1)'],
    ['the chain is not part of what is signed', 'writer.uint(0, chainId)', 'writer.uint(0, 1)'],
  ]),
  ...placesOf(['test/signing/task.test.ts'], 'src/signing/task.ts', [
    ['a quorum of 2^32 is taken', 'quorum > MAX_UINT32', 'quorum > MAX_UINT32 + 1'],
    ['the quorum is not part of what is signed', 'writer.uint(6, quorum)', 'writer.uint(6, 1)'],
  ]),
  ...placesOf(['test/signing/statement.test.ts'], 'src/signing/abi-writer.ts', [
    ['a value of 2^64 loses its upper half', 'if (value <= MAX_UINT64) return', 'return'],
    [
      'the second lowest word is written at the wrong place',
      'view.setBigUint64(at + 16, value >> 64n)',
      'view.setBigUint64(at + 8, value >> 64n)',
    ],
    ['the padding keeps bytes of an earlier statement', 'buffer[i] = 0', 'buffer[i] = buffer[i] ?? 0'],
    ['data of more than 64 KiB is taken', 'byteCount > MAX_DATA_BYTES', 'byteCount > 2 * MAX_DATA_BYTES'],
    ['a short address is taken', "address.length !== 42 || !address.startsWith('0x')", "!address.startsWith('0x')"],
  ]),
  ...placesOf(['test/signing/solana-message.test.ts'], 'src/signing/solana-message.ts', [
    ['lamports of 2^64 are taken', 'lamports > MAX_UINT64', 'lamports > MAX_UINT64 + 1n'],
    [
      'lamports are written in the other byte order',
      'layout.writeBigUInt64LE(lamports',
      'layout.writeBigUInt64BE(lamports',
    ],
    [
      'the target stands over the sender',
      'writeAddress(start + 48, request.to)',
      'writeAddress(start + 16, request.to)',
    ],
    ['an address of another length is taken', 'bytes?.length !== 32', 'bytes === undefined'],
  ]),
  ...placesOf(['test/signing/keyring.test.ts'], 'src/signing/keyring.ts', [
    ['a key that is not its reference’s signs', 'if (derived === reference.address) return', 'return'],
    ['a retiring key signs', "if (reference.status !== 'active') continue", ''],
    [
      'keys opened before a failure stay in memory',
      '      erase()\n      throw withAttester',
      '      throw withAttester',
    ],
    [
      'a message of another length is signed',
      "if (message.length !== 32) throw new SignerUnusableError('a message is not 32 bytes')",
      '',
    ],
  ]),
  ...placesOf(['test/signing/keystore-v3.test.ts'], 'src/signing/keystore-v3.ts', [
    ['the MAC is not compared', 'if (!timingSafeEqual(macOf(derived, ciphertext), mac)) {', 'if (mac.length === 0) {'],
    ['a short MAC is taken', "bytesField(cryptography, 'mac', 32, 32)", "bytesField(cryptography, 'mac', 1, 32)"],
    [
      'a MAC that is too long is taken',
      "bytesField(cryptography, 'mac', 32, 32)",
      "bytesField(cryptography, 'mac', 32, 64)",
    ],
    [
      'a key of 31 bytes is taken',
      "bytesField(cryptography, 'ciphertext', 32, 32)",
      "bytesField(cryptography, 'ciphertext', 31, 32)",
    ],
    ['a derived key of 31 bytes is taken', 'byteCount < 32 || byteCount > 64', 'byteCount < 31 || byteCount > 64'],
    [
      'the MAC covers the first half of the derived key',
      'derived.subarray(16, 32), ciphertext',
      'derived.subarray(0, 16), ciphertext',
    ],
  ]),
  ...placesOf(['test/signing/keystore-pkcs8.test.ts'], 'src/signing/keystore-pkcs8.ts', [
    [
      'the MAC is not compared',
      'mac !== null && !timingSafeEqual(macOf(derived, der), mac)',
      'mac !== null && mac.length === 0',
    ],
    [
      'another kind of key is taken',
      'decrypted.length !== 48 || Buffer.compare(decrypted.subarray(0, 16), ED25519_PKCS8_HEADER) !== 0',
      'decrypted.length !== 48',
    ],
  ]),
  ...placesOf(
    ['test/signing/keystore-v3.test.ts', 'test/signing/keystore-pkcs8.test.ts'],
    'src/signing/key-derivation.ts',
    [
      [
        'a keystore may ask for any memory',
        'memory > MAX_SCRYPT_BYTES || n * r * p > MAX_SCRYPT_WORK',
        'n * r * p > MAX_SCRYPT_WORK',
      ],
      ['a keystore may ask for any number of iterations', 'iterations > MAX_PBKDF2_ITERATIONS', 'iterations < 0'],
    ],
  ),
  ...placesOf(['test/signing/attester-files.test.ts'], 'src/signing/private-key-text.ts', [
    [
      'a keystore that lies about its address is taken',
      'address !== null && address !== derived.toLowerCase()',
      'address === derived',
    ],
    [
      'a keypair whose halves differ is taken',
      'if (matches) return seed',
      'if (matches || seed.length === 32) return seed',
    ],
  ]),
  ...placesOf(['test/signing/attester-files.test.ts'], 'src/signing/attester-files.ts', [
    ['an existing keystore is overwritten', 'if (existsSync(path)) throw', "if (existsSync('')) throw"],
    ['an empty passphrase locks a key', 'destination.passphrase.length === 0', 'destination.passphrase.length < 0'],
  ]),
  ...placesOf(['test/hardware-keys/token.test.ts'], 'src/modules/hardware-keys/checked-signature.ts', [
    ['a token’s signature keeps a high s', 'if (s * 2n <= ORDER ||', 'if (s > 0n ||'],
    [
      'an EVM signature of another key leaves',
      'Buffer.compare(recovered, publicKey) === 0',
      'recovered.length === publicKey.length',
    ],
    ['a Solana signature of another key leaves', 'if (!verify(null, message, key, raw)) throw', 'if (!key) throw'],
  ]),
  ...placesOf(['test/hardware-keys/token.test.ts'], 'src/modules/hardware-keys/login.ts', [
    ['a refused PIN is tried again', 'if (wasRefused(refusedFile, pin)) throw', "if (pin.toString() === '') throw"],
    ['a refused PIN is not remembered', '        rememberRefused(refusedFile, pin)\n', ''],
  ]),
  ...placesOf(['test/hardware-keys/token.test.ts'], 'src/modules/hardware-keys/token.ts', [
    ['another key in the token signs', 'address !== null && key.address !== address', "address === ''"],
    ['a lost session is not opened anew', 'if (isOpened) throw error', 'throw error'],
    ['a token that is away is asked at each request', 'failure.atMs < AGAIN_MS', 'failure.atMs < 0'],
  ]),
  ...placesOf(['test/signing/secp256k1-backend.test.ts'], 'src/signing/secp256k1-node.ts', [
    ['the recovery byte is the other one', 'signature[64] = 27 + recid', 'signature[64] = 28 - recid'],
  ]),
  ...placesOf(['test/workers/sign.test.ts'], 'workers/signing/sign.ts', [
    ['one key signs twice for a quorum', 'distinct.length < quorum', 'keyring.evm.length < quorum'],
    ['signers are not in ascending order', 'left.order < right.order ? -1 : 1', 'left.order < right.order ? 1 : -1'],
    [
      'a task is signed with a quorum of another policy',
      'target.verificationHash, target.quorum)',
      'target.verificationHash, 1)',
    ],
    [
      'a Solana request is signed for EVM',
      "return chain.family === 'evm' ? signEvm(job, target, chain.chainId) : signSolana(job, target)",
      "return signEvm(job, target, chain.family === 'evm' ? chain.chainId : 0)",
    ],
  ]),
  ...placesOf(WORKER, 'workers/signing/decide.ts', [
    [
      'a compliant request is signed after its deadline',
      'if (verdict.compliant && isTooLate(job)) return TOO_LATE',
      '',
    ],
    [
      'the last millisecond before the deadline is one after it',
      'clock.monotonicMs() >= job.deadlineMs',
      'clock.monotonicMs() > job.deadlineMs',
    ],
    ['a denial is signed', 'verdict.compliant && hasExpiration(job) ? job : null', 'hasExpiration(job) ? job : null'],
    [
      'a task of unknown expiry is answered without a signature',
      "if (verdict.compliant && signable === null) return { status: 'unsigned' }",
      '',
    ],
    ['a denial keeps its expiration', 'signable?.expiration ?? 0', 'job.expiration ?? 0'],
    ['the organization’s lists do not decide', 'fromLists ?? policy.evaluate(facts)', 'policy.evaluate(facts)'],
    [
      'the represented user is not screened',
      'listVerdict(reader, request.from, request.onBehalf)',
      "listVerdict(reader, request.from, '')",
    ],
    [
      'an error is a verdict of the policy’s words',
      "return failed('INTERNAL', 'the request could not be processed', errorClass)",
      "return failed('INTERNAL', String(error), errorClass)",
    ],
  ]),
  ...placesOf(['test/workers/attest.test.ts'], 'workers/signing/attest.ts', [
    [
      'what is late by the time of the append is recorded',
      'if (decidedMs >= job.deadlineMs) decisions[index] = TOO_LATE\n      else records',
      'records',
    ],
    ['a worker that was given up answers', "if (result.status === 'fenced') return null", ''],
    [
      'an answer leaves though nothing was recorded',
      "else if (result.status === 'failed') {",
      "else if (result.status === 'fenced') {",
    ],
    ['a failed append says that nothing was signed', 'sequence, nothingSigned: false', 'sequence, nothingSigned: true'],
    ['jobs that wait for their policy are decided twice', '      waiting = []\n', ''],
  ]),
  ...placesOf(['test/workers/controller.test.ts', 'test/workers/attest.test.ts'], 'workers/signing/recorder.ts', [
    ['withheld uuids are recorded again and again', '      withheld = []\n', ''],
    [
      'a late worker appends after the latch was closed',
      "if (!beginCommit(words)) return { status: 'fenced' }",
      'beginCommit(words)',
    ],
    ['withheld uuids wait for the next decision', '      return commit([])', "      return { status: 'recorded' }"],
    [
      'a failed append counts as recorded',
      "return { status: 'failed', error }",
      "void error\n      return { status: 'recorded' }",
    ],
  ]),
  ...placesOf(WORKER, 'workers/signing/record.ts', [
    [
      'the longest data that is recorded is one byte shorter',
      'size <= RECORDED_DATA_BYTES',
      'size < RECORDED_DATA_BYTES',
    ],
    [
      'the represented user is not recorded',
      "on_behalf: request.onBehalf === '' ? undefined : request.onBehalf",
      'on_behalf: undefined',
    ],
    ['facts of any length go into the record', 'text.length <= RECORDED_FACTS_CHARACTERS', 'text.length >= 0'],
  ]),
  ...placesOf(['test/workers/worker-lists.test.ts'], 'workers/signing/worker-lists.ts', [
    [
      'an old list takes its successor with it',
      'if (names?.get(name) === held) names.delete(name)',
      'names?.delete(name)',
    ],
    [
      'a list that could not be read passes for read',
      'held?.image.current === false',
      'held?.image.current === undefined',
    ],
    [
      'a shared list goes before the organization’s own',
      'owned.get(organizationId)?.get(name) ?? shared.get(name)',
      'shared.get(name) ?? owned.get(organizationId)?.get(name)',
    ],
  ]),
  ...placesOf(['test/attestation/late-decisions.test.ts'], 'src/attestation/endpoint.ts', [
    ['a key revoked during a slow body is served', 'if (confirmed !== undefined) await confirmed', 'void confirmed'],
    ['a late decision is sent as the answer of its key', 'if (deadline.passed) {', 'if (deadlineMs < 0) {'],
    [
      'a decision that the store held up is not withheld',
      'if (deadline.passed && decided !== null) withhold([decided])',
      '',
    ],
    ['a late decision is not withheld', 'if (deadline.passed) withhold([uuid])', ''],
    ['a late decision with a key is not withheld', '          withhold([uuid])\n          throw', '          throw'],
  ]),
  ...placesOf(
    ['test/attestation/late-decisions.test.ts', 'test/conformance/attestation-batch.test.ts'],
    'src/attestation/batch-endpoint.ts',
    [
      ['a key revoked during a slow body is served', '      await call.confirmKey()\n', ''],
      ['a late element is answered', 'if (monotonicMs() >= deadlineMs) {', 'if (deadlineMs < 0) {'],
      ['a late element is not withheld', '            late(uuid)\n', ''],
      ['what the thread held up is not withheld', 'if (deadline.passed && decided.length > 0) withhold(decided)', ''],
      ['1,001 elements are taken', 'requests.length > BATCH_SIZE_MAX', 'requests.length > BATCH_SIZE_MAX + 1'],
      [
        'one element more than was granted is decided',
        'index > granted) throw overLimit',
        'index > granted + 1) throw overLimit',
      ],
      ['a header’s key is ignored', "if (request.headers.has('idempotency-key')) throw new BatchKeyRefusedError()", ''],
    ],
  ),
  ...placesOf(['test/attestation/batch.test.ts'], 'src/attestation/batch.ts', [
    ['a signature that comes after its 408 is not withheld', 'if (closed) withhold(answer)\n      else lines', 'lines'],
    ['elements are begun after the deadline', 'while (next < size && !closed)', 'while (next < size)'],
    ['a batch that was left goes on', '      abandoned = true\n      next = size', '      abandoned = true'],
  ]),
  ...placesOf(['test/conformance/attestation-v2.test.ts', 'test/service/lists.test.ts'], 'src/attestation/attest.ts', [
    [
      'an attestation lives a second longer',
      'call.request.nowSeconds + lifetimeSeconds',
      'call.request.nowSeconds + lifetimeSeconds + 1',
    ],
  ]),
  ...placesOf(['test/attestation/decode-attestation.test.ts'], 'src/attestation/decode-attestation.ts', [
    ['a policy’s required user_ip may be missing', "if (userIpText === null) missing.push('user_ip')", ''],
    ['the represented user is dropped', "decodeOnBehalf(body['on_behalf'], family)", "'' as const"],
  ]),
  ...placesOf(['test/attestation/job.test.ts', 'test/attestation/task.test.ts'], 'src/attestation/job.ts', [
    [
      'a shadow decides without a field that it reads',
      'target.shadowRequires.some((field) => call.missing.includes(field))',
      'false',
    ],
    [
      'a policy that reads a field is asked without it',
      'for (const field of target.requires) if (call.missing.includes(field)) throw new FieldMissingError(field)',
      '',
    ],
    ['a policy that changed during the facts decides', 'if (latest.id !== target.id) throw new JobOutdatedError()', ''],
    ['a verification that was revoked in the queue is signed', 'confirmFacts() === true &&', ''],
    ['a key that was revoked during the facts is served', '    await context.confirmKey()\n', ''],
  ]),
  ...placesOf(['test/attestation/expiry.test.ts'], 'src/attestation/expiry.ts', [
    ['a task lives a block longer', 'expiration: height + blocks,', 'expiration: height + blocks + 1,'],
    ['a task lives a block shorter', 'expiration: height + blocks,', 'expiration: height + blocks - 1,'],
    ['a short lifetime is no block at all', 'Math.max(1, Math.ceil(', 'Math.max(0, Math.floor('],
  ]),
  ...placesOf(['test/attestation/task.test.ts'], 'src/attestation/task.ts', [
    ['a compliant task without a block is answered unsigned', "if (answer.body !== '') return answer", 'return answer'],
  ]),
  ...placesOf(['test/attestation/concurrency.test.ts'], 'src/attestation/concurrency.ts', [
    [
      'one more than the cap is under way',
      '(underWay.get(organizationId) ?? 0) < cap',
      '(underWay.get(organizationId) ?? 0) <= cap',
    ],
    ['places are not given back', '        leave(organizationId)\n', '        void leave\n'],
  ]),
]
