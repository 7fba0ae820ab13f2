// Assets of the verification page, built for the page's public URL.
import { buildPageAssets, type PageAssets } from '../pages/page-assets.ts'
import type { Language } from './contract.ts'

/** Language files of the page; each visitor needs one. */
export const WORDS: Readonly<Record<Language, string>> = { en: 'english', de: 'german' }

/** Returns the path of the page's public URL, without a trailing slash: empty at the root of a host. */
export const basePathOf = (portalUrl: string): string => new URL(portalUrl).pathname.replace(/\/$/, '')

/** @throws PageBuildError */
export const buildPortalAssets = (portalUrl: string): Promise<PageAssets> =>
  buildPageAssets({
    page: 'portal',
    title: 'the verification page',
    basePath: basePathOf(portalUrl),
    early: Object.values(WORDS),
    fill: (html) => html.replace('PORTAL-URL', () => portalUrl),
  })
