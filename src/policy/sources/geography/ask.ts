// Answers from the geography file, by the client's address. Without a file the answer is null.
import type { OpenAsker } from '../../../facts/asker.ts'
import type { GeographyFacts } from './rules.ts'

export const askGeography: OpenAsker<GeographyFacts> = ({ geography }) => ({
  ask: ({ request }) => geography?.lookup(request.userIp) ?? null,
})
