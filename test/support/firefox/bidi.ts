/**
 * Starts Firefox with the arguments it gets, and stands between it and Playwright: Firefox up to 153 refuses a command
 * that Playwright sends to every context, `emulation.setMediaFeaturesOverride` (WebDriver BiDi); here it is answered as
 * done. It overrides nothing then: the colours are those of the profile.
 */
const ready = /WebDriver BiDi listening on (ws:\/\/\S+)/
const frameBytesMax = 256 * 1024 * 1024

type Connection = { readonly firefox: WebSocket; readonly early: (string | Buffer)[] }

const [binary = '', ...args] = process.argv.slice(2)

/** @returns its address, in Firefox's own words */
const serve = (firefoxUrl: string): string => {
  const server = Bun.serve<Connection, never>({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request, server) => {
      const firefox = new WebSocket(`${firefoxUrl}${new URL(request.url).pathname}`)
      return server.upgrade(request, { data: { firefox, early: [] } })
        ? undefined
        : new Response(null, { status: 400 })
    },
    websocket: {
      maxPayloadLength: frameBytesMax,
      open: (socket) => {
        const { firefox, early } = socket.data
        firefox.onmessage = ({ data }) => socket.send(data)
        firefox.onclose = () => socket.close()
        firefox.onopen = () => {
          for (const one of early.splice(0)) firefox.send(one)
        }
      },
      message: (socket, text) => {
        const { firefox, early } = socket.data
        const { id, method } = JSON.parse(String(text))
        if (method === 'emulation.setMediaFeaturesOverride') {
          socket.send(JSON.stringify({ type: 'success', id, result: {} }))
        } else if (firefox.readyState === WebSocket.OPEN) firefox.send(text)
        else early.push(text)
      },
      close: (socket) => socket.data.firefox.close(),
    },
  })
  return `WebDriver BiDi listening on ws://127.0.0.1:${server.port}`
}

export {}

const firefox = Bun.spawn([binary, ...args], { stdout: 'inherit', stderr: 'pipe' })
const decoder = new TextDecoder()
let printed = ''
for await (const part of firefox.stderr) {
  const isServed = ready.test(printed)
  printed += decoder.decode(part, { stream: true })
  const [, url] = ready.exec(printed) ?? []
  if (!isServed && url !== undefined) process.stderr.write(`${serve(url)}\n`)
}
process.exit(await firefox.exited)
