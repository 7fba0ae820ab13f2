// Loaded before the first test file of a process (bunfig.toml). Hooks of a preload apply to all files together.
import { afterAll } from 'bun:test'
import fc from 'fast-check'
import { closeShared, expectEnd } from './at-end.ts'

expectEnd()
afterAll(closeShared)

// By default, an array of `maxLength: 400` has at most about ten items, too few for a model.
fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true })

/**
 * `expect(…).rejects` waits within the event loop, which sleeps until its next timer or message, up to 30 s, even if
 * `setImmediate` has settled the promise. Source: https://github.com/oven-sh/bun/pull/39268, not in Bun 1.4.4.
 */
setInterval(() => undefined, 10).unref()
