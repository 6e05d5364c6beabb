import { join } from 'node:path'

const servers = join(import.meta.dir, 'servers')

type Usage = { readonly cpuUs: number; readonly rssBytes: number }

export type Server = {
  readonly url: string
  readonly cpuUs: () => Promise<number>
  /** Memory in use now, without garbage. */
  readonly rssBytes: () => Promise<number>
  readonly stop: () => Promise<void>
}

/** A server in a process of its own, so that we measure its CPU time alone. It ends with this process. */
export const startServer = async (file: string, ...args: readonly string[]): Promise<Server> => {
  const started = Promise.withResolvers<string>()
  let asked = Promise.withResolvers<Usage>()
  const child = Bun.spawn([process.execPath, join(servers, file), ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (message: { readonly url?: string } & Partial<Usage>) => {
      const { url, cpuUs, rssBytes } = message
      if (url !== undefined) started.resolve(url)
      if (cpuUs !== undefined && rssBytes !== undefined) asked.resolve({ cpuUs, rssBytes })
    },
  })
  process.on('exit', () => child.kill())
  child.unref()
  const ask = (what: 'cpu' | 'memory'): Promise<Usage> => {
    asked = Promise.withResolvers()
    child.send(what)
    return asked.promise
  }
  return {
    url: await started.promise,
    cpuUs: async () => (await ask('cpu')).cpuUs,
    rssBytes: async () => (await ask('memory')).rssBytes,
    stop: async () => {
      child.kill()
      await child.exited
    },
  }
}
