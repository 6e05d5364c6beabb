import { join } from 'node:path'

const servers = join(import.meta.dir, 'servers')

export type Server = {
  readonly url: string
  readonly cpuUs: () => Promise<number>
}

/** A server in a process of its own, so that its CPU time is its alone. It ends with this process. */
export const startServer = async (file: string, ...args: readonly string[]): Promise<Server> => {
  const started = Promise.withResolvers<string>()
  let asked = Promise.withResolvers<number>()
  const child = Bun.spawn([process.execPath, join(servers, file), ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (message: { readonly url?: string; readonly cpuUs?: number }) => {
      if (message.url !== undefined) started.resolve(message.url)
      if (message.cpuUs !== undefined) asked.resolve(message.cpuUs)
    },
  })
  process.on('exit', () => child.kill())
  child.unref()
  return {
    url: await started.promise,
    cpuUs: () => {
      asked = Promise.withResolvers()
      child.send('cpu')
      return asked.promise
    },
  }
}
