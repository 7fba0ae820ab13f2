// Topics of streams: one per organization and session, while it has a subscription.
import { expect, test } from 'bun:test'
import { createStreamTopics } from '../../src/identity/streams/stream-topics.ts'

test('a topic belongs to one organization, and exists until its last subscription ends', () => {
  const topics = createStreamTopics<string>()
  const topic = topics.get('A', 'session')
  topic.subscriptions.add('first').add('second')
  topics.get('B', 'session').subscriptions.add('refused')
  expect(topics.get('A', 'session')).toBe(topic)
  expect([...topics.ofSession('session')].map(({ organizationId }) => organizationId)).toEqual(['A', 'B'])
  topics.leave(topics.get('B', 'session'), 'refused')
  topics.leave(topic, 'first')
  expect([...topics.all()]).toEqual([topic])
  expect([topics.find('A', 'session'), topics.find('B', 'session')]).toEqual([topic, undefined])
  topics.leave(topic, 'second')
  expect([...topics.all(), ...topics.ofSession('session')]).toEqual([])
})
