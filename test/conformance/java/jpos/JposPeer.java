import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jpos.iso.BaseChannel;
import org.jpos.iso.ISOMsg;
import org.jpos.iso.ISORequestListener;
import org.jpos.iso.ISOServer;
import org.jpos.iso.ISOSource;
import org.jpos.iso.ServerChannel;
import org.jpos.iso.channel.ASCIIChannel;
import org.jpos.iso.channel.NACChannel;
import org.jpos.iso.packager.ISO87APackager;
import org.jpos.iso.packager.ISO87APackagerBBitmap;
import org.jpos.iso.packager.ISO87BPackager;
import org.jpos.util.ThreadPool;

/**
 * A card network, or a gateway, made of jPOS.
 *
 *   server                          listens once for each name, prints "name port"; "name" on its input prints the
 *                                   book of that name, "name advise rrn" has that network tell of a payment of its own
 *                                   accord, "name ask 201:1124" sends an 0800 with this DE 70 and DE 15; ends with its
 *                                   input
 *   client host profile:port ...    runs a session with each, prints "profile mti stan responseCode amount authCode"
 */
public class JposPeer {
  /** The profiles, and one more listener whose book has the payments of a whole gateway and no others. */
  private static final String[] NAMES = {"ascii", "bcd", "ascii-hex", "payments", "advices"};

  /** What is approved of 52.01, in cents. */
  private static final long PART = 2_000;

  private static final String APPROVED = "4000000000000002";

  public static void main(String[] args) throws Exception {
    if (args[0].equals("server")) serve();
    else call(args);
    System.exit(0);
  }

  private static BaseChannel channelOf(String profile, String host, int port) throws Exception {
    switch (profile) {
      case "ascii":
      case "payments":
      case "advices":
        return new NACChannel(host, port, new ISO87APackagerBBitmap(), null);
      case "bcd":
        return new NACChannel(host, port, new ISO87BPackager(), new byte[] {0x60, 0, 0, 0, 0});
      default:
        return new ASCIIChannel(host, port, new ISO87APackager());
    }
  }

  private static void serve() throws Exception {
    Map<String, Network> networks = new HashMap<>();
    for (String name : NAMES) {
      int port;
      try (ServerSocket free = new ServerSocket(0)) {
        port = free.getLocalPort();
      }
      BaseChannel channel = channelOf(name, null, 0);
      ISOServer server = new ISOServer(port, (ServerChannel) channel, new ThreadPool(1, 20));
      networks.put(name, new Network(name));
      server.addISORequestListener(networks.get(name));
      new Thread(server).start();
      System.out.println(name + " " + port);
    }
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      String[] words = line.split(" ");
      Network network = networks.get(words[0]);
      if (words.length == 3 && words[1].equals("ask")) network.ask(words[2]);
      else if (words.length == 3) network.advise(words[2]);
      else network.printBook();
    }
  }

  private static final class Network implements ISORequestListener {
    private final String name;
    private final Book book = new Book();
    private final Map<String, ISOSource> sources = new java.util.concurrent.ConcurrentHashMap<>();
    private final java.util.Set<ISOSource> signedOn = java.util.concurrent.ConcurrentHashMap.newKeySet();
    private int advices = 700_000;

    Network(String name) {
      this.name = name;
    }

    /** Sends an 0800 with this DE 70, and DE 15 after a colon, over every connection that has signed on. */
    void ask(String what) throws Exception {
      String[] words = what.split(":");
      ISOMsg message = management(words[0], "888888");
      if (words.length > 1) message.set(15, words[1]);
      signedOn.removeIf(source -> !source.isConnected());
      for (ISOSource source : signedOn) source.send(message);
    }

    void printBook() {
      for (String line : book.lines()) System.out.println(name + " book " + line);
      System.out.println(name + " book end");
    }

    /** Tells of what it holds and has booked, or that it has reversed what is not booked; each again as a repeat. */
    void advise(String rrn) throws Exception {
      ISOSource source = sources.get(rrn);
      Payment payment = book.of(rrn);
      tell(source, (ISOMsg) payment.request.clone(), "012", "00");
      ISOMsg note = management(null, null);
      note.set(37, rrn);
      tell(source, note, "062", null);
      ISOMsg last = (ISOMsg) payment.request.clone();
      if (payment.captured > 0) {
        last.set(4, String.format("%012d", payment.captured));
        tell(source, last, "022", "00");
        return;
      }
      last.set(90, "0100" + last.getString(11) + last.getString(7) + "0".repeat(22));
      tell(source, last, "042", null);
    }

    private void tell(ISOSource source, ISOMsg advice, String type, String code) throws Exception {
      advice.set(11, String.format("%06d", ++advices));
      if (code != null) advice.set(39, code);
      for (String sending : new String[] {"0", "1"}) {
        advice.setMTI(type + sending);
        source.send(advice);
      }
    }

    @Override
    public boolean process(ISOSource source, ISOMsg message) {
      try {
        if (message.getMTI().startsWith("08")) {
          System.out.println(
              name + " got " + message.getMTI() + " " + message.getString(70) + " "
                  + message.getString(39));
          if (message.isResponse()) return true;
        }
        if (message.isResponse()) {
          System.out.println(
              name + " told " + message.getMTI() + " " + message.getString(37) + " "
                  + message.getString(39));
          return true;
        }
        if (message.getMTI().equals("0100")) sources.put(message.getString(37), source);
        ISOMsg answer = (ISOMsg) message.clone();
        answer.setResponseMTI();
        String code = book.enter(message);
        answer.set(39, code);
        if (message.getMTI().equals("0100") && "00 10".contains(code)) answer.set(38, "A1B2C3");
        if (message.getMTI().startsWith("05")) book.tellTotals(answer);
        if (code.equals("10")) {
          answer.set(4, String.format("%012d", PART));
          answer.set(54, "0002986C000000000000");
        }
        if (isAnswered(message)) source.send(answer);
        if ("001".equals(message.getString(70))) {
          signedOn.add(source);
          source.send(management("301", "777777"));
        }
      } catch (Exception error) {
        System.out.println(name + " failed " + error);
      }
      return true;
    }

    /** Messages of one amount are acted on in silence until they are repeated. */
    private static boolean isAnswered(ISOMsg message) throws Exception {
      if (message.getMTI().equals("0500")) return false;
      return !"000000099901".equals(message.getString(4)) || message.getMTI().endsWith("1");
    }
  }

  private static final class Payment {
    final ISOMsg request;
    final List<String> messages = new ArrayList<>();
    long authorized;
    long captured;
    long reversed;
    long refunded;

    Payment(ISOMsg request) {
      this.request = request;
    }

    /** All that must stay the same from the authorization on: card number, RRN, terminal, merchant, currency. */
    boolean isOf(ISOMsg message) {
      for (int field : new int[] {2, 37, 41, 42, 49}) {
        String expected = request.getString(field);
        if (expected == null || !expected.equals(message.getString(field))) return false;
      }
      return true;
    }
  }

  /** What the network holds, took and gave back, in cents; it finds what a reversal names by DE 90 alone. */
  private static final class Book {
    private final Map<String, Payment> byRrn = new LinkedHashMap<>();
    private final Map<String, Payment> byOriginal = new HashMap<>();
    private final Map<String, Long> amounts = new HashMap<>();
    private final Map<String, String> reversals = new HashMap<>();
    private final Map<String, ISOMsg> firsts = new HashMap<>();
    /** Numbers and amounts of what was booked: credits, their reversals, debits, their reversals. */
    private final long[] numbers = new long[4];
    private final long[] cents = new long[4];
    private final java.util.Set<String> increments = new java.util.HashSet<>();
    private final java.util.Set<String> uploaded = new java.util.HashSet<>();
    private final java.util.Set<String> refunds = new java.util.HashSet<>();

    synchronized Payment of(String rrn) {
      return byRrn.get(rrn);
    }

    synchronized List<String> lines() {
      List<String> lines = new ArrayList<>();
      byRrn.forEach(
          (rrn, payment) ->
              lines.add(
                  rrn + " " + payment.authorized + " " + payment.captured + " " + payment.reversed
                      + " " + payment.refunded + " " + String.join(",", payment.messages)));
      return lines;
    }

    /** Gives the response code. */
    synchronized String enter(ISOMsg message) throws Exception {
      String mti = message.getMTI();
      if (mti.equals("0800")) return "00";
      ISOMsg first = firsts.putIfAbsent(keyOf(message), (ISOMsg) message.clone());
      if (mti.endsWith("1") && first != null && !isSame(first, message)) return "30";
      if (mti.startsWith("05")) return reconcile(message);
      if (mti.charAt(2) == '2' && first != null) {
        byRrn.get(message.getString(37)).messages.add(mti);
        return mti.endsWith("1") ? "94" : "30";
      }
      // What it tells of was decided, and the caller was told so.
      boolean isDecided = mti.startsWith("012") || mti.startsWith("022");
      if (isDecided && !"00".equals(message.getString(39))) return "30";
      long amount = Long.parseLong(message.getString(4));
      if (mti.startsWith("03")) return upload(message, amount);
      if (mti.startsWith("01")) return authorize(message, amount);
      if (mti.startsWith("02") && message.getString(3).startsWith("20")) return refund(message, amount);
      if (mti.startsWith("02")) return capture(message, amount);
      return reverse(message, amount);
    }

    /** A repeat is the first message in all but its type. */
    private static boolean isSame(ISOMsg first, ISOMsg repeat) {
      for (int field = 2; field <= 128; field++) {
        if (!java.util.Objects.equals(first.getString(field), repeat.getString(field))) return false;
      }
      return true;
    }

    private void count(int kind, long amount) {
      numbers[kind]++;
      cents[kind] += amount;
    }

    /** Compares what was told with what was booked; a net of debits is D. */
    private String reconcile(ISOMsg message) {
      for (int kind = 0; kind < 4; kind++) {
        if (Long.parseLong(message.getString(74 + kind)) != numbers[kind]) return "95";
        if (Long.parseLong(message.getString(86 + kind)) != cents[kind]) return "95";
      }
      long net = cents[2] - cents[3] - cents[0] + cents[1];
      String expected = (net < 0 ? "C" : "D") + String.format("%016d", Math.abs(net));
      boolean isWhole = expected.equals(message.getString(97)) && message.hasField(15);
      return isWhole && "986".equals(message.getString(50)) ? "00" : "30";
    }

    void tellTotals(ISOMsg answer) throws Exception {
      for (int kind = 0; kind < 4; kind++) {
        answer.set(74 + kind, String.format("%010d", numbers[kind]));
        answer.set(86 + kind, String.format("%016d", cents[kind]));
      }
      answer.set(66, "00".equals(answer.getString(39)) ? "1" : "2");
    }

    private static String keyOf(ISOMsg message) throws Exception {
      return message.getMTI().substring(0, 3) + "0" + message.getString(11) + message.getString(7);
    }

    private String authorize(ISOMsg message, long amount) throws Exception {
      Payment raised = byRrn.get(message.getString(37));
      if (raised != null && message.hasField(38)) return increment(message, raised, amount);
      Payment payment = new Payment((ISOMsg) message.clone());
      if (!payment.isOf(message)) return "30";
      if (byRrn.putIfAbsent(message.getString(37), payment) != null) return "94";
      payment.messages.add(message.getMTI());
      if (amount == 5_100) return "51";
      if (amount == 0) return "85";
      boolean isPart = amount == 5_201;
      payment.authorized = isPart ? PART : amount;
      byOriginal.put(keyOf(message), payment);
      amounts.put(keyOf(message), payment.authorized);
      return isPart ? "10" : "00";
    }

    private String increment(ISOMsg message, Payment payment, long amount) throws Exception {
      payment.messages.add("0100I");
      if (!payment.isOf(message)) return "30";
      if (byOriginal.containsKey(keyOf(message))) return "94";
      if (amount == 5_100) return "51";
      raise(payment, amount);
      byOriginal.put(keyOf(message), payment);
      amounts.put(keyOf(message), amount);
      increments.add(keyOf(message));
      return "00";
    }

    private String capture(ISOMsg message, long amount) throws Exception {
      Payment payment = byRrn.get(message.getString(37));
      if (payment == null) return "25";
      payment.messages.add(message.getMTI());
      if (!payment.isOf(message)) return "30";
      if (byOriginal.containsKey(keyOf(message))) return "94";
      if (amount == 5_100) return "51";
      if (amount > payment.authorized - payment.captured - payment.reversed) return "13";
      payment.captured += amount;
      count(2, amount);
      byOriginal.put(keyOf(message), payment);
      amounts.put(keyOf(message), amount);
      return "00";
    }

    private String refund(ISOMsg message, long amount) throws Exception {
      Payment payment = byRrn.get(message.getString(37));
      if (payment == null) return "25";
      payment.messages.add(message.getMTI() + "R");
      if (!payment.isOf(message)) return "30";
      if (byOriginal.containsKey(keyOf(message))) return "94";
      if (amount == 5_100) return "51";
      if (amount > payment.captured - payment.refunded) return "13";
      payment.refunded += amount;
      count(0, amount);
      byOriginal.put(keyOf(message), payment);
      amounts.put(keyOf(message), amount);
      refunds.add(keyOf(message));
      return "00";
    }

    /** A repeat has the STAN of the first. What is captured is not released before its capture is taken back. */
    private String reverse(ISOMsg message, long amount) throws Exception {
      String original = message.getString(90).substring(0, 20);
      Payment payment = byOriginal.get(original);
      if (payment == null) return "25";
      payment.messages.add(message.getMTI());
      // Whoever takes no part takes back what it asked for.
      boolean isAsked = message.getString(4).equals(payment.request.getString(4));
      if (!payment.isOf(message)) return "30";
      if (amount != amounts.get(original) && !(payment.authorized == PART && isAsked)) return "30";
      String stan = message.getString(11);
      if (message.hasField(95)) return reduce(message, payment, stan);
      String earlier = reversals.get(original);
      if (earlier != null) return earlier.equals(stan) ? "94" : "30";
      boolean ofRefund = refunds.contains(original);
      boolean ofIncrement = increments.contains(original);
      boolean ofCapture = original.startsWith("02") && !ofRefund;
      long held = ofIncrement ? payment.authorized - amount : 0;
      if (!original.startsWith("02") && payment.captured > held) return "13";
      reversals.put(original, stan);
      if (ofRefund) count(1, amount);
      if (ofCapture) count(3, amount);
      if (ofRefund) payment.refunded -= amount;
      else if (ofIncrement) raise(payment, -amount);
      else if (ofCapture) payment.captured -= amount;
      else payment.reversed = payment.authorized;
      return "00";
    }

    /** Tells of what was booked and stands, once, by the numbers and the amount that it was booked under. */
    private String upload(ISOMsg message, long amount) throws Exception {
      Payment payment = byRrn.get(message.getString(37));
      if (payment == null) return "25";
      payment.messages.add(message.getMTI());
      if (!payment.isOf(message) || !message.hasField(15)) return "30";
      String original = message.getString(90).substring(0, 20);
      if (!original.startsWith("02") || byOriginal.get(original) != payment) return "25";
      boolean stands = amount == amounts.get(original) && !reversals.containsKey(original);
      if (!stands) return "13";
      return uploaded.add(original) ? "00" : "94";
    }

    private void raise(Payment payment, long by) throws Exception {
      payment.authorized += by;
      amounts.merge(keyOf(payment.request), by, Long::sum);
    }

    /** A partial reversal: DE 95 has the amount that stays. */
    private String reduce(ISOMsg message, Payment payment, String stan) throws Exception {
      String key = message.getString(90).substring(0, 20) + stan;
      if (reversals.containsKey(key)) return "94";
      long remaining = Long.parseLong(message.getString(95).substring(0, 12));
      long left = payment.authorized - payment.reversed;
      if (remaining < payment.captured || remaining >= left || remaining <= 0) return "13";
      reversals.put(key, stan);
      payment.reversed = payment.authorized - remaining;
      return "00";
    }
  }

  private static ISOMsg management(String code, String stan) throws Exception {
    ISOMsg message = new ISOMsg("0800");
    message.set(7, "1120120000");
    if (stan != null) message.set(11, stan);
    if (code != null) message.set(70, code);
    return message;
  }

  private static ISOMsg payment(String mti, int number, String pan) throws Exception {
    ISOMsg message = new ISOMsg(mti);
    message.set(2, pan);
    message.set(3, "000000");
    message.set(4, String.format("%012d", number * 100));
    message.set(7, "1120120000");
    message.set(11, String.format("%06d", number));
    message.set(37, String.format("632512%06d", number));
    message.set(41, "TERM0001");
    message.set(42, "MERCHANT0000001");
    message.set(49, "986");
    return message;
  }

  private static ISOMsg capture(int number, int of, int cents) throws Exception {
    ISOMsg message = payment("0200", number, APPROVED);
    message.set(4, String.format("%012d", cents));
    message.set(37, String.format("632512%06d", of));
    return message;
  }

  private static ISOMsg reversal(int number, int of, String originalMti, int originalNumber)
      throws Exception {
    ISOMsg message = payment("0400", number, APPROVED);
    message.set(4, String.format("%012d", of * 100));
    message.set(37, String.format("632512%06d", of));
    message.set(
        90, originalMti + String.format("%06d", originalNumber) + "1120120000" + "0".repeat(22));
    return message;
  }

  private static final class Session {
    private final String profile;
    private final BaseChannel channel;

    Session(String profile, String host, int port) throws Exception {
      this.profile = profile;
      channel = channelOf(profile, host, port);
      channel.setTimeout(10_000);
      channel.connect();
    }

    void exchange(ISOMsg message) throws Exception {
      channel.send(message);
      print();
    }

    void print() throws Exception {
      ISOMsg message = channel.receive();
      System.out.println(
          profile + " " + message.getMTI() + " " + message.getString(11) + " "
              + message.getString(39) + " " + message.getString(4) + " " + message.getString(38));
    }

    void run() throws Exception {
      exchange(management("001", "000001"));
      exchange(management("301", "000301"));
      for (int number = 1; number <= 20; number++) channel.send(payment("0100", number, APPROVED));
      for (int number = 1; number <= 20; number++) print();
      exchange(payment("0100", 21, "4000000151000009"));
      ISOMsg reversal = reversal(22, 7, "0100", 7);
      exchange(reversal);
      reversal.setMTI("0401");
      exchange(reversal);
      exchange(capture(23, 3, 300));
      ISOMsg part = capture(24, 5, 499);
      exchange(part);
      exchange(part);
      exchange(capture(25, 4, 401));
      exchange(reversal(26, 3, "0200", 23));
      exchange(payment("0200", 27, APPROVED));
      exchange(management("002", "000002"));
      channel.disconnect();
    }
  }

  private static void call(String[] args) throws Exception {
    for (int index = 2; index < args.length; index++) {
      String[] peer = args[index].split(":");
      new Session(peer[0], args[1], Integer.parseInt(peer[1])).run();
    }
  }
}
