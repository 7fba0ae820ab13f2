// Additional deployment admins, invited by the first. Only two invited admins can approve each other's changes.
import type { BrowserContextOptions, Page } from 'playwright-core'
import type { Dashboard } from './dashboard.ts'

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
  const response = await fetch(`${url}/admin/v1/welcome`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url, 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ token: invitation.url.split('#')[1], password: 'yet another horse battery staple' }),
  })
  if (!response.ok) throw new Error(`no invited admin: ${response.status}`)
  const [pair = ''] = (response.headers.get('set-cookie') ?? '').split(';')
  const [cookieName = '', value = ''] = pair.split('=')
  return {
    enter: async (path, options) => {
      const page = await dashboard.visit('/', options)
      await page.context().addCookies([{ name: cookieName, value, url }])
      await page.goto(url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      return page
    },
  }
}
