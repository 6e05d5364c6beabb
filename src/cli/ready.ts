import { type PlatformSettings, platformSettings } from '#src/platform/config/index.ts'
import { hasCode } from '#src/platform/runtime/index.ts'
import { type Command, demandSettings, exitCodes } from './command.ts'

const timeoutMs = 2_000

/** A process that listens everywhere is asked over loopback. */
const loopbackOf = (host: string | undefined): string => {
  if (host === undefined || host === '' || host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/** The URL where this machine's process with these settings answers probes. */
export const ownUrl = (platform: PlatformSettings): string => {
  const { host, port } = platform.adminAddr ?? platform.httpAddr
  const isTls =
    platform.certificate !== undefined && (platform.adminAddr === undefined || platform.adminTls)
  return `${isTls ? 'https' : 'http'}://${loopbackOf(host)}:${port}`
}

/** Asks it, past any proxy. Its certificate names the host that callers know; no key is sent, and the answer is public. */
export const askOwn = (url: string): Promise<Response> =>
  fetch(url, {
    signal: AbortSignal.timeout(timeoutMs),
    proxy: false,
    tls: { rejectUnauthorized: false },
  })

/** Asks the process of this machine with the same settings whether it is ready: for probes in containers without curl. */
export const readyCommand: Command = {
  name: 'ready',
  summary: 'Asks the gateway that runs on this machine whether it is ready.',
  usage: '',
  description:
    'Reads TRILHO_ADMIN_ADDR, else HTTP_ADDR, as serve does; where clients need a certificate, only the former can be asked. Prints what /ready answers; ends with 0 when that is 200.',
  options: {},
  examples: ['trilho ready'],
  run: async (_args, io, program) => {
    const { adminAddr, adminTls, httpAddr, certificate } = platformSettings
    const needed = [adminAddr, adminTls, httpAddr, certificate]
    const { platform } = demandSettings(program.load(io.env), needed)
    const url = `${ownUrl(platform)}/ready`
    try {
      const response = await askOwn(url)
      io.out(`${(await response.text()).trim()}\n`)
      return response.ok ? exitCodes.ok : exitCodes.failed
    } catch (error) {
      const told = hasCode(error, 'ECONNREFUSED')
        ? 'nothing listens there: is `serve` running? See its log.'
        : String(error instanceof Error ? error.message : error)
      io.err(`trilho ready: ${url}: ${told}\n`)
      return exitCodes.failed
    }
  },
}
