// Shutdown of the task runner: no task is started, and a task that is claimed at the same time returns to the queue.
import { expect, test } from 'bun:test'
import { createTaskRunner, type TaskListener } from '../../src/admin/task-runner.ts'
import { storeOfTest } from '../store/store-of-test.ts'
import { openTemporaryStore } from '../store/temporary-store.ts'

const temporary = storeOfTest(openTemporaryStore)

test('a task that is being claimed during the shutdown is not started, and returns to the queue', async () => {
  const { tasks } = temporary.store
  const { id } = await tasks.create({ organizationId: null, kind: 'test', input: {}, actor: 'test' })
  const [taken, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const started: string[] = []
  const errors: unknown[] = []
  const runner = createTaskRunner({
    tasks: {
      ...tasks,
      takeNext: async () => {
        const task = await tasks.takeNext('this process')
        taken.resolve()
        await gate.promise
        return task
      },
    },
    spawn: (task, listener) => {
      started.push(task.id)
      return { kill: () => listener.onExit() }
    },
    monotonicMs: () => 0,
    onError: (error) => errors.push(error),
  })
  runner.wake()
  await taken.promise
  const closing = runner.close()
  gate.resolve()
  await closing
  expect([started, errors]).toEqual([[], []])
  expect(await tasks.find(null, id)).toMatchObject({ state: 'queued', startedAtSeconds: null })
  // The task does not count as interrupted, and another process claims it.
  expect(await tasks.failInterrupted()).toBe(0)
  expect((await tasks.takeNext('another process'))?.id).toBe(id)
})

test('the shutdown ends the process of a running task, and starts no waiting task', async () => {
  const { tasks } = temporary.store
  for (let count = 0; count < 2; count++) {
    await tasks.create({ organizationId: null, kind: 'test', input: {}, actor: 'test' })
  }
  const running = Promise.withResolvers<TaskListener>()
  let processes = 0
  const runner = createTaskRunner({
    tasks,
    spawn: (_task, listener) => {
      processes += 1
      running.resolve(listener)
      return { kill: () => listener.onExit() }
    },
    monotonicMs: () => 0,
    onError: (error) => {
      throw error
    },
  })
  runner.wake()
  await running.promise
  await runner.close()
  expect(processes).toBe(1)
  expect(await tasks.countOpen(null)).toBe(2)
})
