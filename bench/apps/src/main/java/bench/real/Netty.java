package bench.real;

import bench.Application;
import bench.Settings;
import bench.Team;
import bench.WrongResult;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.util.Arrays;

/**
 * A Netty server that sends back what it gets, and clients on the loopback
 * interface. A client's thread waits on a promise until its message is back.
 */
public final class Netty implements Application {
    private static final int MESSAGES = 40_000;
    private static final int MESSAGE_BYTES = 256;

    private final int clients;
    private final int messagesEach;
    private final EventLoopGroup serverLoops;
    private final EventLoopGroup clientLoops;
    private final SocketAddress address;

    public Netty(Settings settings) throws InterruptedException {
        clients = settings.threads();
        messagesEach = Math.max(1, settings.work(MESSAGES) / clients);
        int loops = settings.pairs();
        serverLoops = new NioEventLoopGroup(loops);
        clientLoops = new NioEventLoopGroup(loops);
        address = new ServerBootstrap().group(serverLoops).channel(NioServerSocketChannel.class)
                .childHandler(new Echo()).bind(InetAddress.getLoopbackAddress(), 0).sync().channel().localAddress();
    }

    @Override
    public void iterate() throws Exception {
        Team.run("client", clients, client -> {
            Answers answers = new Answers();
            Channel channel = new Bootstrap().group(clientLoops).channel(NioSocketChannel.class)
                    .handler(answers).connect(address).sync().channel();
            byte[] message = new byte[MESSAGE_BYTES];
            for (int i = 0; i < messagesEach; i++) {
                Arrays.fill(message, (byte) (client + i));
                Promise<byte[]> answer = channel.eventLoop().newPromise();
                answers.expect(answer);
                channel.writeAndFlush(Unpooled.copiedBuffer(message));
                WrongResult.unless(Arrays.equals(answer.sync().get(), message), "message " + i + " came back changed");
            }
            channel.close().sync();
        });
    }

    /** Each message was compared when it came back. */
    @Override
    public void check() {}

    @Override
    public void close() throws InterruptedException {
        clientLoops.shutdownGracefully().sync();
        serverLoops.shutdownGracefully().sync();
    }

    @Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object received) {
            context.writeAndFlush(received);
        }
    }

    /** Puts the answers to one client together, which come in pieces. */
    private static final class Answers extends ChannelInboundHandlerAdapter {
        private final byte[] bytes = new byte[MESSAGE_BYTES];
        private int received;
        private volatile Promise<byte[]> answer;

        /** To be called before the message is sent. */
        void expect(Promise<byte[]> nextAnswer) {
            answer = nextAnswer;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object piece) {
            ByteBuf buffer = (ByteBuf) piece;
            int count = buffer.readableBytes();
            try {
                buffer.readBytes(bytes, received, count);
            } finally {
                buffer.release();
            }
            received += count;
            if (received == MESSAGE_BYTES) {
                received = 0;
                answer.setSuccess(bytes.clone());
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable problem) {
            answer.tryFailure(problem);
        }
    }
}
