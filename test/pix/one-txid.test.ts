/** A txid is one charge of its account, of whatever kind, also if several are asked for at once. */
import { afterAll, expect, test } from 'bun:test'
import type { Queryable } from '#src/platform/database/index.ts'
import { formerLockOfTxid, lockOfTxid } from '../../src/pix/txids.ts'
import { startAutomatic } from './automatic.ts'
import { chargeBody, freshTxid } from './support.ts'

const { pix, other, call, right, recBody, cobrBody, violated } = await startAutomatic()
afterAll(() => pix.database.close())
const address = { street: 'Rua 15, 1200', state: 'SP', postal_code: '70800100' }
const { key } = await pix.receiver('ana', undefined, address)
const dora = await pix.receiver('dora', undefined, address)
const debtor = { cpf: '12345678909', nome: 'Francisco da Silva' }

const rounds = 20
const refusals = [
  [400, 'CobOperacaoInvalida', 'cob.txid'],
  [400, 'CobVOperacaoInvalida', 'cobv.txid'],
  [400, 'CobROperacaoInvalida', 'cobr.txid'],
]

test.each([
  ['alone', false],
  ['with a location', true],
])('cob, cobv and cobr put at once, %s: one is made', async (_, loc) => {
  for (let round = 0; round < rounds; round++) {
    const { idRec } = await right('POST', '/rec', recBody())
    const txid = freshTxid()
    const located = async (tipoCob: string) =>
      loc ? { loc: { id: (await right('POST', '/loc', { tipoCob })).id } } : {}
    const due = {
      chave: key,
      valor: { original: '35.00' },
      calendario: { dataDeVencimento: '2026-03-20' },
      devedor: debtor,
      ...(await located('cobv')),
    }
    const immediate = chargeBody(key, await located('cob'))
    // What is made in one statement would always be first.
    const all = await Promise.all([
      Bun.sleep(round / 2).then(() => call('PUT', `/cob/${txid}`, immediate)),
      Bun.sleep(round / 2).then(() => call('PUT', `/cobv/${txid}`, due)),
      call('PUT', `/cobr/${txid}`, cobrBody(idRec)),
    ])
    const made = all.map(({ status }) => status === 201)
    expect(made.filter(Boolean)).toEqual([true])
    expect(all.filter((_, at) => !made[at]).map(violated)).toEqual(
      refusals.filter((_, at) => !made[at]),
    )
  }
})

/** Sessions that wait for a lock. */
const waiting = async (): Promise<number> => {
  const { count } = await pix.sql`
    select from pg_locks where not granted
      and database = (select oid from pg_database where datname = current_database())`
  return count
}

/** Another txid of `ana` under the same lock. */
const besides = (txid: string): string => {
  const drawn = freshTxid()
  return lockOfTxid('ana', drawn) === lockOfTxid('ana', txid) ? drawn : besides(txid)
}

test('while an account makes a batch, nobody waits but for a txid that may be of it', async () => {
  const recOf = async (as?: string): Promise<string> =>
    (await call('POST', '/rec', recBody(), as)).json.idRec
  const [mine, drawn, theirs] = [await recOf(), await recOf(), await recOf(other.token)]
  const put = (idRec: string, as?: string) =>
    call('PUT', `/cobr/${freshTxid()}`, cobrBody(idRec), as)
  const own = await pix.sql.begin(async (tx) => {
    for (let at = 0; at < 1_000; at++) {
      const txid = freshTxid()
      await tx`select pix_txid_is_free(${lockOfTxid('ana', txid)}, 'ana', ${txid})`
    }
    const held = await tx`
      select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`
    expect(held.count).toBe(64)
    const made = put(mine)
    // It has tried, and tries again.
    await Bun.sleep(50)
    // Payments of the recurrence do not wait.
    await tx`select from pix_recurrences where id = ${mine} for update nowait`
    const others = await Promise.all([
      put(theirs, other.token),
      call('POST', '/cobr', cobrBody(drawn)),
      call('POST', '/cob', chargeBody(key)),
      call('PUT', `/cob/${freshTxid()}`, chargeBody(other.key), other.token),
    ])
    expect(others.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    return { made }
  })
  expect((await own.made).status).toBe(201)
})

test('who waits for a txid keeps no connection', async () => {
  const txid = freshTxid()
  const recurrences: string[] = []
  for (let at = 0; at < 4; at++) {
    recurrences.push((await right('POST', '/rec', recBody())).idRec)
  }
  const holder = await pix.sql.reserve()
  await holder`begin`
  await holder`select pg_advisory_xact_lock(${lockOfTxid('ana', txid)}::bigint)`
  // Two are left.
  const max = pix.sql.options.max - 3
  const taken = await Promise.all(Array.from({ length: max }, () => pix.sql.reserve()))
  try {
    const location = await right('POST', '/loc', { tipoCob: 'cob' })
    const behind = [
      ...recurrences.map((idRec) => call('PUT', `/cobr/${besides(txid)}`, cobrBody(idRec))),
      ...[{}, {}, {}, { loc: { id: location.id } }].map((more) =>
        call('PUT', `/cob/${besides(txid)}`, chargeBody(key, more)),
      ),
    ]
    await Bun.sleep(50)
    for (let at = 0; at < 10; at++) {
      const free = await call('PUT', `/cob/${freshTxid()}`, chargeBody(other.key), other.token)
      expect([free.status, await waiting()]).toEqual([201, 0])
    }
    await holder`commit`
    const made = await Promise.all(behind)
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201))
  } finally {
    for (const one of [...taken, holder]) one.release()
  }
})

const dueBody = {
  chave: key,
  valor: { original: '35.00' },
  calendario: { dataDeVencimento: '2026-03-20' },
  devedor: debtor,
}

type Asks = readonly Readonly<Parameters<typeof call>>[]

/** What a batch has in hand, and what is asked for meanwhile that has to do with it. */
const batches: readonly [
  string,
  () => Promise<{ hold: (tx: Queryable) => unknown; asks: Asks }>,
][] = [
  [
    'makes a charge',
    async () => {
      const txid = freshTxid()
      const due = ['PUT', `/cobv/${txid}`, dueBody] as const
      return {
        hold: (tx) => tx`
            insert into pix_charges (id, account, kind, tax_id, txid, key, original_cents, alteration,
              expires_seconds, content, created_at)
            values (gen_random_uuid(), 'ana', 'cobv', '12345678000195', ${txid}, ${key}, 3500, 0, 0,
              '{"vencimento": {}}', now())`,
        // The last are of an account whose receiver has the same number.
        asks: [due, ['PUT', `/cob/${txid}`, chargeBody(dora.key), dora.token]],
      }
    },
  ],
  [
    'revises a charge',
    async () => {
      const path = `/cobv/${freshTxid()}`
      const { txid, loc } = await right('PUT', path, dueBody)
      return {
        hold: (tx) => tx`
            select from pix_charges where account = 'ana' and txid = ${txid} for update`,
        asks: [
          ['PUT', path, dueBody],
          ['PATCH', path, dueBody],
          ['DELETE', `/loc/${loc.id}/txid`],
        ],
      }
    },
  ],
  [
    'is made, and its own request comes again,',
    async () => ({
      hold: (tx) => tx`
          insert into pix_batches (account, id, description, created_at)
          values ('ana', 77, 'Alunos', now())`,
      asks: [
        [
          'PUT',
          '/lotecobv/77',
          { descricao: 'Alunos', cobsv: [{ txid: freshTxid(), ...dueBody }] },
        ],
        ['PUT', '/lotecobv/77', { descricao: 'Pais', cobsv: [{ txid: freshTxid(), ...dueBody }] }],
      ],
    }),
  ],
  [
    'names a location',
    async () => {
      const { id } = await right('POST', '/loc', { tipoCob: 'cob' })
      const body = chargeBody(key, { loc: { id } })
      // If two batches name one location, each denies what it cannot have.
      const batch = { descricao: 'x', cobsv: [{ txid: freshTxid(), ...dueBody, loc: { id } }] }
      return {
        hold: (tx) => tx`select from pix_locations where id = ${id} for update`,
        asks: [
          ['POST', '/cob', body],
          ['PUT', `/cob/${freshTxid()}`, body],
          ['PUT', '/lotecobv/78', batch],
        ],
      }
    },
  ],
]

test.each(batches)('while a batch %s, who asks for that holds up nobody else', async (_, begin) => {
  const { hold, asks } = await begin()
  const holder = await pix.sql.reserve()
  await holder`begin`
  await hold(holder)
  // Two are left.
  const max = pix.sql.options.max - 3
  const taken = await Promise.all(Array.from({ length: max }, () => pix.sql.reserve()))
  try {
    const behind: ReturnType<typeof call>[] = []
    for (const ask of asks) {
      for (let at = 0; at < 3; at++) {
        behind.push(call(...ask))
        await Bun.sleep(30)
      }
    }
    const beganMs = performance.now()
    for (let at = 0; at < 5; at++) {
      const free = await call('PUT', `/cob/${freshTxid()}`, chargeBody(other.key), other.token)
      expect(free.status).toBe(201)
    }
    // A statement that waits is ended after 30 s.
    expect(performance.now() - beganMs).toBeLessThan(20_000)
    await holder`rollback`
    const ended = await Promise.all(behind)
    expect(ended.filter(({ status }) => status >= 500)).toEqual([])
  } finally {
    for (const one of [...taken, holder]) one.release()
  }
})

test.each([
  ['a charge of a recurrence waits', 'cobr', 'pg_advisory_xact_lock_shared'],
  ['a charge waits', 'cob', 'pg_advisory_xact_lock'],
  ['a charge with a location waits', 'loc', 'pg_advisory_xact_lock'],
])('%s for one of its txid that an earlier build of 0.1.0 makes', async (_, kind, lock) => {
  const { idRec } = await right('POST', '/rec', recBody())
  const { id } = await right('POST', '/loc', { tipoCob: 'cob' })
  const txid = freshTxid()
  const put = () =>
    kind === 'cobr'
      ? call('PUT', `/cobr/${txid}`, cobrBody(idRec))
      : call('PUT', `/cob/${txid}`, chargeBody(key, kind === 'loc' ? { loc: { id } } : {}))
  const own = await pix.sql.begin(async (tx) => {
    await tx`select ${tx(lock)}(${formerLockOfTxid('ana', txid)}::bigint)`
    const made = put()
    expect(await Promise.race([made, Bun.sleep(100)])).toBeUndefined()
    return { made }
  })
  expect((await own.made).status).toBe(201)
})
