import java.net.ServerSocket;
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
 *   server                        listens once for each profile, prints "profile port"
 *   client profile host port      runs a session, prints "mti stan responseCode amount"
 */
public class JposPeer {
  private static final String[] PROFILES = {"ascii", "bcd", "ascii-hex"};

  public static void main(String[] args) throws Exception {
    if (args[0].equals("server")) serve();
    else call(args[1], args[2], Integer.parseInt(args[3]));
  }

  private static BaseChannel channelOf(String profile, String host, int port) throws Exception {
    switch (profile) {
      case "ascii":
        return new NACChannel(host, port, new ISO87APackagerBBitmap(), null);
      case "bcd":
        return new NACChannel(host, port, new ISO87BPackager(), new byte[] {0x60, 0, 0, 0, 0});
      default:
        return new ASCIIChannel(host, port, new ISO87APackager());
    }
  }

  private static void serve() throws Exception {
    for (String profile : PROFILES) {
      int port;
      try (ServerSocket free = new ServerSocket(0)) {
        port = free.getLocalPort();
      }
      BaseChannel channel = channelOf(profile, null, 0);
      ISOServer server = new ISOServer(port, (ServerChannel) channel, new ThreadPool(1, 20));
      server.addISORequestListener(new Network(profile));
      new Thread(server).start();
      System.out.println(profile + " " + port);
    }
  }

  private static final class Network implements ISORequestListener {
    private final String profile;

    Network(String profile) {
      this.profile = profile;
    }

    @Override
    public boolean process(ISOSource source, ISOMsg message) {
      try {
        if (message.isResponse()) {
          System.out.println(
              profile + " got " + message.getMTI() + " " + message.getString(70) + " "
                  + message.getString(39));
          return true;
        }
        ISOMsg answer = (ISOMsg) message.clone();
        answer.setResponseMTI();
        boolean declined = "000000005100".equals(message.getString(4));
        answer.set(39, declined ? "51" : "00");
        if (message.getMTI().equals("0100") && !declined) answer.set(38, "A1B2C3");
        source.send(answer);
        if ("001".equals(message.getString(70))) source.send(management("301", "777777"));
      } catch (Exception error) {
        System.out.println(profile + " failed " + error);
      }
      return true;
    }
  }

  private static ISOMsg management(String code, String stan) throws Exception {
    ISOMsg message = new ISOMsg("0800");
    message.set(7, "1120120000");
    message.set(11, stan);
    message.set(70, code);
    return message;
  }

  private static void print(ISOMsg message) throws Exception {
    System.out.println(
        message.getMTI() + " " + message.getString(11) + " " + message.getString(39) + " "
            + message.getString(4));
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

  private static void call(String profile, String host, int port) throws Exception {
    BaseChannel channel = channelOf(profile, host, port);
    channel.setTimeout(10_000);
    channel.connect();
    for (String code : new String[] {"001", "301"}) {
      channel.send(management(code, "000" + code));
      print(channel.receive());
    }
    String approved = "4000000000000002";
    for (int number = 1; number <= 20; number++) channel.send(payment("0100", number, approved));
    for (int number = 1; number <= 20; number++) print(channel.receive());
    channel.send(payment("0100", 21, "4000000151000009"));
    print(channel.receive());
    ISOMsg reversal = payment("0400", 22, approved);
    reversal.set(37, "632512000007");
    reversal.set(90, "0100" + "000007" + "1120120000" + "0".repeat(22));
    channel.send(reversal);
    print(channel.receive());
    reversal.setMTI("0401");
    channel.send(reversal);
    print(channel.receive());
    channel.send(management("002", "000002"));
    print(channel.receive());
    channel.disconnect();
    System.exit(0);
  }
}
