/** Where the simulators say that they are, and how long they keep who waits. */
import { expect, test } from 'bun:test'
import { networkInterfaces } from 'node:os'
import { createTestVault } from '../../src/simulators/card-network/index.ts'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { createChain } from '../../src/simulators/chain/index.ts'
import { createDirectory } from '../../src/simulators/directory/index.ts'

const participant = '12345678'
const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)

type Started = { readonly urls: readonly string[]; readonly stop: () => unknown }
const simulators: Readonly<Record<string, (host: string) => Promise<Started>>> = {
  vault: async (host) => {
    const { url, stop } = createTestVault({ host, key: 'k' })
    return { urls: [url], stop }
  },
  'central bank': async (hostname) => {
    const { url, secondaryUrl, stop } = await createCentralBank({ hostname })
    return { urls: [url, secondaryUrl], stop }
  },
  chain: async (host) => {
    const { url, stop } = await createChain({ mining: 'manual', host })
    return { urls: [url], stop }
  },
  directory: async (hostname) => {
    const { url, stop } = await createDirectory({ hostname })
    return { urls: [url], stop }
  },
}
const hosts = ['127.0.0.1', '0.0.0.0', ...(hasIpv6 ? ['::1', '::'] : [])]

for (const [name, start] of Object.entries(simulators)) {
  test.each(hosts)(`the ${name} that listens on %s is where it says`, async (host) => {
    const { urls, stop } = await start(host)
    for (const url of urls) expect((await fetch(url)).status).toBeGreaterThan(0)
    await stop()
  })
}

test('a file of identifiers is where the directory was asked', async () => {
  let nowMs = Date.now()
  const directory = await createDirectory({ hostname: '0.0.0.0', now: () => nowMs })
  const url = new URL(directory.url)
  url.hostname = '127.0.0.1'
  const body = `<CreateCidSetFileRequest><Participant>${participant}</Participant><KeyType>EMAIL</KeyType></CreateCidSetFileRequest>`
  // As a participant asks, without the port.
  const headers = { 'PI-RequestingParticipant': participant, Host: url.hostname }
  const asked = await (await fetch(`${url}/cids/files/`, { method: 'POST', body, headers })).text()
  const [, id] = /<Id>(\d+)</.exec(asked) ?? []
  nowMs += 10_000
  const told = await (await fetch(`${url}/cids/files/${id}`, { headers })).text()
  expect(told).toContain(`<Url>${url.origin}/cid-files/`)
  await directory.stop()
})

test('a directory that is slower than the runtime waits still answers', async () => {
  const directory = await createDirectory({})
  directory.setFaults([{ kind: 'latency', delayMs: 15_000 }])
  expect((await fetch(`${directory.url}/entries/x`)).status).toBe(400)
  await directory.stop()
}, 60_000)
