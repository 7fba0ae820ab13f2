// The verification page's own files, which know the page's public address.
import { join } from 'node:path'
import { buildPageAssets, type PageAssets } from '../http/page-assets.ts'

const PAGE = join(import.meta.dir, 'page', 'page.html')

/** The path part of the page's public address, without a trailing slash: empty at the root of a host. */
export const basePathOf = (portalUrl: string): string => new URL(portalUrl).pathname.replace(/\/$/, '')

/** @throws PageBuildError */
export const buildPortalAssets = (portalUrl: string): Promise<PageAssets> =>
  buildPageAssets({
    page: PAGE,
    title: 'the verification page',
    basePath: basePathOf(portalUrl),
    fill: (html) => html.replace('PORTAL-URL', () => portalUrl),
  })
