// Compares names: reads the index from stdin, then handles requests until the service kills it.

import { ASKED_PRIORITY, stayInBackground } from '../../../../workers/background-process.ts'
import { openScreening } from '../matching/screen-subject.ts'
import type { ScreeningQuestion, ScreeningReply } from './screening-protocol.ts'

stayInBackground(ASKED_PRIORITY)

const send = (message: ScreeningReply): void => void process.send?.(message)

process.on('disconnect', () => process.exit(0))

const screening = openScreening(await Bun.stdin.bytes())

/** Subjects between garbage collections, without which the heap grows to several times its used size. */
const COLLECTED_AFTER = 50
let since = 0

process.on('message', ({ subjects, threshold }: ScreeningQuestion) => {
  const answers = subjects.map((subject) => {
    if (++since % COLLECTED_AFTER === 0) Bun.gc(true)
    return screening.screen(subject, threshold)
  })
  send({ type: 'answer', answers })
})
send({ type: 'ready', names: screening.names })
