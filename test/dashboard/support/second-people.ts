// Additional deployment admins, invited by the first. Only two invited admins can approve each other's changes.
import type { BrowserContextOptions, Page } from 'playwright-core'
import { type Dashboard, enterBy } from './dashboard.ts'

export interface SecondPerson {
  enter(path: string, options?: BrowserContextOptions): Promise<Page>
}

export const inviteAdmin = async (dashboard: Dashboard, name: string): Promise<SecondPerson> => {
  const { url } = dashboard
  const { invitation } = (await dashboard.asAdmin('POST', '/users', {
    email: `${name.toLowerCase().replace(' ', '.')}@example.org`,
    name,
    deployment_admin: true,
  })) as { invitation: { url: string } }
  const password = 'yet another horse battery staple'
  const cookie = await enterBy(url, '/welcome', { token: invitation.url.split('#')[1], password })
  return {
    enter: async (path, options) => {
      const page = await dashboard.visit('/', options)
      await page.context().addCookies([{ ...cookie, url }])
      await page.goto(url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      return page
    },
  }
}
