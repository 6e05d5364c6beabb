/** NOTIFY is heard again once the server lets us listen, whoever refused it, and whenever. */
import { expect, test } from 'bun:test'
import { connect, createServer, type Socket } from 'node:net'
import { createDatabaseFeature, openDatabase } from '#src/platform/database/index.ts'
import { migrations } from '../../../drizzle/index.ts'
import { createNotifier } from '../../../src/platform/broker/postgresql/notifier.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'
import { until } from '../../support/until.ts'

/** A server that refuses LISTEN while it is a standby, and keeps its connections when it is one no more. */
const startStandby = async (dsn: string) => {
  const { port, hostname } = new URL(dsn)
  const state = { isStandby: true, refused: 0 }
  const sockets = new Set<Socket>()
  const refused = (chunk: Buffer): Buffer => {
    const text = chunk.toString('latin1')
    if (!state.isStandby || !text.includes('listen "')) return chunk
    state.refused++
    return Buffer.from(text.replaceAll('listen "', 'lixten "'), 'latin1')
  }
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (chunk) => upstream.write(refused(chunk)))
    upstream.on('data', (chunk) => client.write(chunk))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = new URL(dsn)
  url.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const disconnect = (): void => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  const stop = (): void => {
    disconnect()
    server.close()
  }
  return { state, dsn: url.href, disconnect, stop }
}

const opened = async () => {
  const real = await createTestDatabase(2)
  const standby = await startStandby(real.dsn)
  const database = openDatabase({
    dsn: standby.dsn,
    connectionsMax: 2,
    statementTimeoutMs: 30_000,
    logger: quietLogger,
    isTraced: true,
  })
  const close = async (): Promise<void> => {
    await database.close()
    standby.stop()
    await real.close()
  }
  return { real, standby, database, close }
}

test('what the server refused at first is heard once it is promoted, each once', async () => {
  const { real, standby, database, close } = await opened()
  const heard: string[] = []
  let listens = 0
  const listening = database.sql.listen(
    'news',
    (text) => heard.push(text),
    () => listens++,
  )
  await expect(listening).rejects.toThrow('lixten')
  await expect(database.listenAgain()).rejects.toThrow('lixten')
  await until(() => standby.state.refused === 2)
  standby.state.isStandby = false
  await until(() =>
    database.listenAgain().then(
      () => listens === 1,
      () => false,
    ),
  )
  await database.listenAgain()
  await real.sql`select pg_notify('news', 'one')`
  await until(() => heard.length > 0)
  expect([heard, listens]).toEqual([['one'], 1])
  await close()
})

test('so is what was heard before, when the connection is lost and its successor refuses', async () => {
  const { real, standby, database, close } = await opened()
  const heard: string[] = []
  standby.state.isStandby = false
  await database.sql.listen('news', (text) => heard.push(text))
  standby.state.isStandby = true
  standby.disconnect()
  await until(() => standby.state.refused > 0)
  standby.state.isStandby = false
  await until(async () => {
    await database.listenAgain().catch(() => {})
    await real.sql`select pg_notify('news', 'again')`
    return heard.length > 0
  })
  expect(new Set(heard)).toEqual(new Set(['again']))
  await close()
})

test('queues are searched less often again, without anything that comes', async () => {
  const { real, database, standby, close } = await opened()
  const notifier = createNotifier(database.sql, {
    hear: () => {},
    isOurs: () => true,
    logger: { ...quietLogger, warn: () => {} },
  })
  const feature = createDatabaseFeature({
    name: 'database',
    setting: 'DATABASE_DSN',
    dsn: real.dsn,
    database,
    migrations,
    migrateOnStart: false,
    logger: { ...quietLogger, warn: () => {} },
  })
  await feature.start?.()
  notifier.listen()
  await until(() => !notifier.isHearing())
  standby.state.isStandby = false
  await until(notifier.isHearing)
  await notifier.close()
  await feature.stop?.()
  await close()
})
