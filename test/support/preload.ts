// Loaded before the first test file of a process (bunfig.toml): hooks of a preload hold for all files together.
import { afterAll } from 'bun:test'
import fc from 'fast-check'
import { closeShared, expectEnd } from './at-end.ts'

expectEnd()
afterAll(closeShared)

// Otherwise an array of `maxLength: 400` has at most about ten items, too few steps for a model.
fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true })

/**
 * `expect(…).rejects` waits within the event loop, which then sleeps until its next timer or message, however soon the
 * promise was settled by `setImmediate`: up to 30 s. Source: https://github.com/oven-sh/bun/pull/39268, not in Bun 1.4.4.
 */
setInterval(() => undefined, 10).unref()
